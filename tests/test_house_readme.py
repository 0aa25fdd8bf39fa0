"""What README.md and .env.example say is there is there."""

import re
from pathlib import Path

from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ENV_EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
SETTINGS = (ROOT / "agentplatform" / "settings.py").read_text("utf-8")


def variables_of_the_settings() -> set[str]:
    return set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', SETTINGS))


def test_every_path_of_the_map_exists():
    paths = set(re.findall(r"`((?:agentplatform|transactions|tooling|tests|templates|static)/[\w/.*]*)`", README))

    missing = sorted(path for path in paths if not list(ROOT.glob(path.rstrip("/"))))

    assert len(paths) > 20
    assert missing == []


def test_every_variable_is_in_the_example_file():
    named = set(re.findall(r"^#?([A-Z_]+)=", ENV_EXAMPLE, re.MULTILINE))

    assert sorted(variables_of_the_settings() - named) == []


def test_the_example_file_names_no_variable_that_nobody_reads():
    named = set(re.findall(r"^#?([A-Z_]+)=", ENV_EXAMPLE, re.MULTILINE))
    elsewhere = {"PORT", "POSTGRES_PASSWORD"}

    assert sorted(named - variables_of_the_settings() - elsewhere) == []


def test_every_variable_is_explained():
    explained = set(re.findall(r"`([A-Z_]{3,})`", README))

    assert sorted(variables_of_the_settings() - explained - {"OFFLINE_MODEL"}) == []


def test_every_command_exists():
    commands = set(re.findall(r"manage\.py (\w+)", README))
    targets = set(re.findall(r"`make ([a-z-]+)", README)) - {"bench"}
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert sorted(commands - set(get_commands())) == []
    assert sorted(target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)) == []
