"""Where the cases and definition sets of the tests are, and how to read them."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = HERE / "cases"
DEFINITIONS = HERE / "definitions"


def cases(topic: str) -> list[dict[str, Any]]:
    """Every case of ``cases/<topic>.jsonl``, in order."""
    lines = (CASES / f"{topic}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
