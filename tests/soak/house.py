"""The whole product as processes that can be killed and come back, and the services that it needs."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.acceptance.forks import Fork, Forks
from tests.acceptance.stack import Stack
from tests.own_services import OwnPostgres, OwnRedis, own_postgres, own_redis
from tests.processes import Child, Processes, responds
from tests.scripted_model import ScriptedModel
from tests.services import free_port, wait_until
from tests.soak.customers import read_values
from tests.soak.plan import SHOPS, Kind
from tests.soak.progress import Kill

TIMES = {"SWEEP_SECONDS": "2", "LEASE_SECONDS": "10", "RECONCILE_SECONDS": "60"}
"""The defaults, except for reconciling: what nobody can settle is the operators' before the judge comes."""
TWO = 2
VERIFY_SECONDS = 120


Running = Child | Fork


@dataclass(slots=True)
class Component:
    """One process. ``launch`` starts it and returns at once; ``is_ready`` asks whether it works."""

    kind: Kind
    name: str
    launch: Callable[[], Running]
    is_ready: Callable[[Running], bool]
    child: Running | None = None

    @property
    def is_running(self) -> bool:
        return self.child is not None and self.child.is_running


@dataclass(slots=True)
class Service:
    """Redis or PostgreSQL: ``strike`` ends it as a crash would and has it back, which takes a moment."""

    kind: Kind
    name: str
    strike: Callable[[], None]


@dataclass
class House:
    """Started with ``open_house``. Methods that kill return when and what, by the clock of this machine."""

    processes: Processes
    stack: Stack
    postgres: OwnPostgres
    redis: OwnRedis
    forks: Forks | None = None
    """With it, processes begin without the seconds of importing; without it, from nothing, as in production."""
    components: list[Component] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    ended_alone: list[str] = field(default_factory=list)
    """What ended without being killed, with the end of its log."""

    def __post_init__(self) -> None:
        stack = self.stack
        self.web_ports = [stack.ports["web"], free_port()]
        self.bases = [f"http://127.0.0.1:{port}" for port in self.web_ports]
        for number in range(TWO):
            port, base = self.web_ports[number], self.bases[number]
            self._add(Kind.WEB, number, partial(self._launch_web, port), _answers(f"{base}/readyz"))
            self._add(Kind.WORKER, number, self._launch_worker, lambda child: " ready." in child.text())
            self._add(Kind.SWEEPER, number, self._launch_sweeper, lambda child: "Running due work" in child.text())
        for number, server in enumerate(shop.server for shop in SHOPS):
            launch = partial(self._launch_server, server)
            self._add(Kind.MCP, number, launch, _answers(stack.admin(server, "ledger")))
        self.services = [
            Service(Kind.REDIS, "redis-0", self._kill_redis),
            Service(Kind.POSTGRES, "postgres-0", self._crash_postgres),
        ]

    def _add(self, kind: Kind, number: int, launch: Callable[[], Running], is_ready: Callable[[Running], bool]) -> None:
        self.components.append(Component(kind, f"{kind}-{number}", launch, is_ready))

    # Launching --------------------------------------------------------------------------------------------------

    def _launch_web(self, port: int) -> Running:
        forks = self.forks
        return forks.start("serve", "--port", str(port)) if forks else self.stack.launch_web(port=port)

    def _launch_worker(self) -> Running:
        return self.forks.start(*self.stack.worker_command()) if self.forks else self.stack.launch_worker()

    def _launch_sweeper(self) -> Running:
        return self.forks.start("run_due", "--loop") if self.forks else self.stack.start_sweeper()

    def _launch_server(self, name: str) -> Running:
        forks = self.forks
        return forks.start(*self.stack.server_command(name)) if forks else self.stack.launch_server(name)

    # Living -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        for component in self.components:
            if component.child is None:
                component.child = component.launch()

    def wait_until_ready(self, *, timeout: float) -> None:
        """Keep every component running until all of them work; fails after ``timeout`` seconds."""

        def all_work() -> bool:
            self.keep_running()
            return all(one.child is not None and one.is_ready(one.child) for one in self.components)

        wait_until(all_work, timeout=timeout, what="every component to work")

    def broken_chains(self) -> list[str]:
        """What ``manage.py verify_evidence`` names, a line each; nothing where every row is as it was written."""
        check = self.processes.manage("verify_evidence", env=self.stack.env)
        status = check.process.wait(VERIFY_SECONDS)
        return check.text().splitlines() if status else []

    def keep_running(self) -> None:
        """Start again what ended by itself, as whoever runs the product would."""
        for component in self.components:
            child = component.child
            if child is not None and not child.is_running:
                self.ended_alone.append(f"{component.name} ended by itself: {child.text()[-700:]}")
                self._replace(component)

    # Dying ------------------------------------------------------------------------------------------------------

    def of(self, kind: Kind) -> list[Component | Service]:
        everything: list[Component | Service] = [*self.components, *self.services]
        return [one for one in everything if one.kind is kind]

    def kill(self, victim: Component | Service) -> Kill:
        """SIGKILL, and started again at once; a service is back when this returns."""
        kill = Kill(victim.kind, victim.name, time.time())
        match victim:
            case Component():
                self._replace(victim)
            case Service():
                victim.strike()
        return kill

    def _replace(self, component: Component) -> None:
        match component.child:
            case Child() as child:
                self.processes.retire(child)
            case Fork() as fork:
                fork.end(signal.SIGKILL)
        component.child = component.launch()

    def _kill_redis(self) -> None:
        """It keeps nothing on disk, so this is FLUSHALL as well."""
        self.redis.kill()
        if self.redis.child is not None:
            self.processes.retire(self.redis.child)
        self.redis.start()

    def _crash_postgres(self) -> None:
        old = self.postgres.child
        self.postgres.stop()
        if old is not None:
            self.processes.retire(old)
        self.postgres.start()


def _answers(url: str) -> Callable[[Running], bool]:
    return lambda _child: responds(url)


@contextmanager
def open_house(folder: Path, *, cold: bool = False) -> Iterator[House]:
    """Everything of the product in throw-away services of its own; nothing of it is left behind.

    ``cold``: every process starts from nothing; else it is forked from one that has imported everything.
    """
    processes = Processes(folder)
    try:
        with own_postgres(processes, max_connections="400") as postgres, own_redis(processes) as redis:
            stack = Stack(processes, folder, postgres.url, redis.url, TIMES)
            with ScriptedModel(read_values, port=stack.ports["model"]):
                stack.prepare()
                forks = None if cold else Forks(processes, folder, stack.env)
                house = House(processes, stack, postgres, redis, forks)
                house.start()
                house.wait_until_ready(timeout=90)
                yield house
    finally:
        processes.close()
