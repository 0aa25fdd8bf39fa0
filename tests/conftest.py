"""Fixtures and hooks that every test may use: real services, children, and which tests run where."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests import services
from tests.processes import Processes

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "django_db_serialized_rollback"}


def pytest_configure(config: pytest.Config) -> None:
    """A run on PostgreSQL without PostgreSQL ends at once and says so."""
    if services.TEST_ON != "postgres" or hasattr(config, "workerinput"):
        return
    problem = services.postgres_problem()
    if problem:
        status = pytest.ExitCode.USAGE_ERROR if services.SERVICES_REQUIRED else pytest.ExitCode.OK
        pytest.exit(f"PostgreSQL is not here, its pass is skipped: {problem}", returncode=status)
    # Threads of a test may still hold connections when Django drops its test databases.
    config.add_cleanup(lambda: services.drop_databases(os.environ["DATABASE_URL"].rpartition("/")[2]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that touches Django's database, so that the PostgreSQL pass cannot forget one."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES:
            item.add_marker("database")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the logs of the processes that it ran against."""
    report = yield
    if report.failed:
        values = getattr(item, "funcargs", {}).values()
        found = [value if isinstance(value, Processes) else getattr(value, "processes", None) for value in values]
        for started in {id(one): one for one in found if isinstance(one, Processes)}.values():
            report.sections.extend(started.logs())
    return report


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """A scratch PostgreSQL database for the processes that the tests of a module start."""
    with services.scratch_database() as url:
        yield url


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """An empty Redis database of our own."""
    with services.scratch_redis() as url:
        yield url


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the system's Chromium."""
    return services.chromium_path()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Starts children that end with the test."""
    started = Processes(tmp_path)
    yield started
    started.close()


@pytest.fixture(scope="module")
def module_processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Starts children that several tests of a module share."""
    started = Processes(tmp_path_factory.mktemp("processes"))
    yield started
    started.close()
