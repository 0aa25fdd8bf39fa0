"""Definition sets on disk and in the draft, for the tests of tooling."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.loading import DEFINITIONS
from tooling import publishing, yaml_io
from tooling.specs import Definitions

COMMANDS = ("python",)


def read(*names: str) -> Definitions:
    """The definitions of good sets of the tests."""
    reading = yaml_io.read_sets([DEFINITIONS / name for name in names], stdio_commands=COMMANDS)
    assert reading.definitions is not None, [str(problem) for problem in reading.problems]
    return reading.definitions


@pytest.fixture
def contas() -> Definitions:
    return read("contas")


@pytest.fixture
def pedidos() -> Definitions:
    return read("pedidos")


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[str], Path]:
    """Copies a set of the tests into a directory that a test may change."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(DEFINITIONS / name, tmp_path / name))

    return copy


@pytest.fixture
def published(db: None, settings: object, contas: Definitions) -> Definitions:
    """The set contas as draft and as release 1."""
    publishing.replace_draft(contas)
    publishing.publish(comment="first")
    return contas


@pytest.fixture
def both(db: None) -> Definitions:
    """Both sets of the tests, as draft and as release 1."""
    definitions = read("contas", "pedidos")
    publishing.replace_draft(definitions)
    publishing.publish(comment="first")
    return definitions


@pytest.fixture
def ana(client: Client, db: None) -> Client:
    """A business administrator who is signed in, reading English."""
    user = User.objects.create_user("ana", password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="tooling"))
    client.force_login(user)
    client.cookies["django_language"] = "en"
    return client
