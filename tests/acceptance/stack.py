"""The whole product as processes for one test module: servers, model, web, workers, in one of two ways."""

import dataclasses
import secrets
import shutil
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.client import Chat, get, post, user_token
from tests.loading import DEFINITIONS
from tests.processes import Child, Processes
from tests.services import free_port, is_listening, wait_until

SETS = ("contas", "pedidos")


@dataclasses.dataclass
class Stack:
    """Starts what a test asks for, with the arguments of contracts.md §1, §6 and §7 only."""

    processes: Processes
    folder: Path
    database: str = ""
    redis: str = ""
    settings: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.secret = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(24)
        self.ports = {name: free_port() for name in (*SETS, "model", "web")}
        self.base = f"http://127.0.0.1:{self.ports['web']}"
        self.workers: list[Child] = []
        self.env = {
            "DATA_DIR": str(self.folder),
            "DATABASE_URL": self.database or f"sqlite:///{self.folder}/db.sqlite3",
            "RATE_LIMITS": "off",
            "SWEEP_SECONDS": "0.5",
            "CONTAS_MCP_TOKEN": self.token,
            "PEDIDOS_MCP_TOKEN": self.token,
            "CHAT_SECRET": self.secret,
            "LLM_BASE_URL": f"http://127.0.0.1:{self.ports['model']}/v1",
            "LLM_API_KEY": "none",
            "LLM_MODEL": "scripted",
        } | self.settings
        if self.redis:
            self.env["REDIS_URL"] = self.redis

    # Starting -------------------------------------------------------------------------------------------------

    def start_servers(self) -> None:
        """Both demo MCP servers, with token check, ledger and fault switch."""
        for name in SETS:
            self.launch_server(name)

    def launch_server(self, name: str) -> Child:
        """Start the MCP server ``name`` and go on."""
        return self.processes.python(name, *self.server_command(name), env=self.env)

    def server_command(self, name: str) -> list[str]:
        command = ["-m", f"tooling.demo.{name}", "--transport", "streamable-http"]
        command += ["--port", str(self.ports[name]), "--ledger", str(self.folder / f"{name}.ledger")]
        return [*command, "--token-env", f"{name.upper()}_MCP_TOKEN", "--faults"]

    def start_model(self) -> None:
        """The bundled offline model, as ``make demo`` starts it."""
        self.processes.python("model", "-m", "tooling.demo.model", "--port", str(self.ports["model"]), env=self.env)

    def prepare(self) -> None:
        """Migrate, publish both sets with our ports, create channel and operator key."""
        self.processes.run("migrate", "-v0", env=self.env)
        folders = [str(self.definitions(name)) for name in SETS]
        self.processes.run("definitions", "import", *folders, "--publish", "-m", "acceptance", env=self.env)
        self.processes.run(
            "channel", "create", "demo", "--jwt-secret-env", "CHAT_SECRET", "--allow-no-origin", env=self.env
        )
        self.key = self.processes.run("apikey", "create", "tests", "--role", "operator", env=self.env).split()[-1]

    def definitions(self, name: str) -> Path:
        """A copy of the set whose server stands on our port, over HTTP."""
        folder = self.folder / "definitions" / name
        shutil.copytree(DEFINITIONS / name, folder)
        server = {
            "transport": "streamable_http",
            "endpoint": f"http://127.0.0.1:{self.ports[name]}/mcp",
            "enabled": True,
            "headers": {"Authorization": f"Bearer ${{{name.upper()}_MCP_TOKEN}}"},
        }
        (folder / "mcp_servers.yaml").write_text(yaml.safe_dump({"version": 1, "mcp_servers": {name: server}}))
        return folder

    def serve(self, *arguments: str) -> Child:
        web = self.launch_web(*arguments)
        web.wait_for_url(f"{self.base}/readyz")
        return web

    def launch_web(self, *arguments: str, port: int = 0) -> Child:
        """Start a web process, on a port of its own if one is given, and go on."""
        return self.processes.manage("serve", "--port", str(port or self.ports["web"]), *arguments, env=self.env)

    def start_worker(self, **more: str) -> Child:
        """A Celery worker as in production; ``more`` is added to its environment."""
        worker = self.launch_worker(**more)
        self.workers.append(worker)
        wait_until(lambda: " ready." in worker.text(), timeout=40, what="the worker to be ready")
        return worker

    def launch_worker(self, **more: str) -> Child:
        """Start a Celery worker and go on; ``stop_workers`` does not know it."""
        return self.processes.python("worker", *self.worker_command(), env=self.env | more)

    def worker_command(self) -> list[str]:
        name = f"worker@{uuid.uuid4().hex[:8]}"
        command = ["-m", "celery", "-A", "agentplatform", "worker", "--pool", "threads", "-c", "50", "-n", name]
        return [*command, "--loglevel", "INFO"]

    def stop_workers(self) -> None:
        """End every worker, so that the next one is the only one."""
        for worker in self.workers:
            worker.stop()

    def start_sweeper(self, **more: str) -> Child:
        return self.processes.manage("run_due", "--loop", env=self.env | more)

    def wait_for_helpers(self) -> None:
        """Demo servers and model answer; asked last, so that they start while the database is prepared."""
        for name in (*SETS, "model"):
            wait_until(lambda name=name: is_listening(self.ports[name]), timeout=40, what=f"{name} to listen")

    # Using ----------------------------------------------------------------------------------------------------

    def chat(self, *, locale: str = "pt-BR", customer: str = "") -> Chat:
        """A new conversation of an identified customer."""
        token = user_token(self.secret, customer_key=customer or "C-1", contract_key=customer or "CT-1")
        return Chat(self.base, locale=locale, token=token)

    def ledger(self, name: str) -> Any:
        """What the server ``name`` did and was asked: its own record of effects and calls."""
        return get(self.admin(name, "ledger"))

    def calls(self, name: str, tool: str) -> list[dict[str, Any]]:
        """The calls of ``tool`` that arrived at ``name``; ``_meta`` without the prefix of contracts.md §6."""
        calls = [call for call in self.ledger(name)["calls"] if call["tool"] == tool]
        return [call | {key.partition("/")[2]: value for key, value in call["meta"].items()} for call in calls]

    def effects(self, name: str, **what: str) -> list[dict[str, Any]]:
        """What really happened at ``name``, by any field of the ledger."""
        return [effect for effect in self.ledger(name)["effects"] if what.items() <= effect.items()]

    def admin(self, name: str, page: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}/admin/{page}"

    def fault(self, name: str, **fault: Any) -> None:
        status, answer = post(self.admin(name, "faults"), fault)
        assert status == 201, answer

    def clear_faults(self, name: str) -> None:
        urllib.request.urlopen(urllib.request.Request(self.admin(name, "faults"), method="DELETE"), timeout=10).close()

    def transaction(self, transaction_id: str) -> dict[str, Any]:
        """The operator's view of a transaction (contracts.md §8)."""
        url = f"{self.base}/api/v1/transactions/{transaction_id}/"
        return get(url, authorization=f"Bearer {self.key}")
