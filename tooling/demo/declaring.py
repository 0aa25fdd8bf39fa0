"""What the demo servers declare of their tools in ``tools/list``: a dry run, and examples for the contract linter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tooling.demo.desk import DRY_RUN, META

TESTER = "contract-linter"
"""A customer whom nobody serves: everything is as on the first day."""

SANDBOX = {META + "sandbox": {"meta": DRY_RUN}}


def examples(
    argument: str = "",
    *,
    succeed: Sequence[str] = (),
    fail: Sequence[str] = (),
    separator: str = "",
    **arguments: Any,
) -> dict[str, Any]:
    """The ``_meta`` of a tool: items in ``argument`` that it does or refuses, and what else a call needs."""
    said = {"argument": argument, "separator": separator, "succeed": list(succeed), "fail": list(fail)}
    return {META + "fixtures": {name: value for name, value in said.items() if value} | {"arguments": arguments}}
