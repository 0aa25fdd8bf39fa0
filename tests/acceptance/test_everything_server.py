"""The public everything-server of the MCP project is imported by discovery, as a child that npx starts.

Needs npm and its registry, which no other test does: it is skipped where either is missing, whatever is required.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import Processes

PACKAGE = "@modelcontextprotocol/server-everything@2026.8.31"
FETCH_SECONDS = 120
pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the server is installed."""
    folder = tmp_path_factory.mktemp("everything")
    if not shutil.which("npm") or not shutil.which("npx"):
        pytest.skip("the everything-server is not here: npm is not installed")
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        pytest.skip(f"the everything-server is not here: npm did not fetch it within {FETCH_SECONDS} s")
    if done.returncode:
        pytest.skip(f"the everything-server is not here: npm could not fetch it: {done.stderr.strip()[-300:]}")
    return folder


def test_the_everything_server_is_imported_by_discovery_and_published(
    package: Path, tmp_path: Path, processes: Processes
) -> None:
    env = {"DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "MCP_STDIO_COMMANDS": "npx"}
    servers = tmp_path / "mcpServers.json"
    servers.write_text(
        '{"mcpServers": {"everything": {"command": "npx", "args": '
        f'["--no-install", "--prefix", "{package}", "mcp-server-everything", "stdio"]}}}}}}'
    )

    def definitions(*arguments: str) -> str:
        return processes.run("definitions", *arguments, env=env)

    processes.run("migrate", "-v0", env=env)
    definitions("import", str(servers))
    shown = definitions("import-server", "everything", "--dry-run")
    nothing_yet = definitions("export", "--draft", str(tmp_path / "before"))
    told = definitions("import-server", "everything")
    definitions("publish", "-m", "by discovery")
    definitions("export", str(tmp_path / "after"))
    checked = definitions("check-servers")

    tools = (tmp_path / "after" / "tools.yaml").read_text("utf-8")
    policies = (tmp_path / "after" / "tool_policies.yaml").read_text("utf-8")
    assert nothing_yet
    assert "echo:" not in (tmp_path / "before" / "tools.yaml").read_text("utf-8")
    assert "echo: suggested" in shown
    assert "tools added to the draft; nothing is published" in told
    assert "  echo:\n" in tools
    assert "mcp_server: everything" in tools
    assert "  echo:\n" in policies
    assert "everything: as published" in checked
