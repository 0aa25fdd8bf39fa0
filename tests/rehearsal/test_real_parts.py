"""A simulation with the demo as it is shipped: its validator is really asked over HTTP, its action never is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentplatform.demo import shipped
from tests.processes import Processes
from tests.rehearsal.test_simulating import rows
from tests.services import free_port, wait_until
from tests.tooling.mcp_servers import Demo, listens
from tooling.specs import OperationType, ProfileSpec
from transactions.rehearsal.outcome import outcome
from transactions.rehearsal.scenes import Scene, Text
from transactions.rehearsal.setting_up import with_everybody
from transactions.rehearsal.simulating import Outside, simulate

pytestmark = pytest.mark.django_db
SAID = Text("cancelar serviço: Música Mais, Livros Falados e Craque 10")


@pytest.fixture
def model_url(processes: Processes) -> str:
    """The offline model of the demo."""
    port = free_port()
    processes.python("model", "-m", "tooling.demo.model", "--port", str(port))
    wait_until(lambda: listens(port), timeout=30, what="the offline model to listen")
    return f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def contas(processes: Processes, tmp_path: Path) -> Demo:
    demo = Demo(processes, "contas", tmp_path / "ledger.json")
    demo.start()
    return demo


def test_the_shipped_validators_are_safe_and_nothing_else_is() -> None:
    found = shipped()
    safe = {name for name, tool in found.tools.items() if tool.safe_to_simulate}

    assert safe == {policy.pre_validation.tool for policy in found.policies.values() if policy.pre_validation.enabled}
    assert {found.policy(name).operation_type for name in safe} == {OperationType.INTERNAL}


def test_the_demo_is_simulated_with_its_real_validator_and_nothing_is_cancelled(model_url: str, contas: Demo) -> None:
    found = shipped()
    found = replace(
        found,
        servers={**found.servers, "contas": contas.spec},
        profiles={"default": ProfileSpec("default", model="offline", base_url=model_url)},
    )
    identity: dict[str, Any] = {"customer_key": "C-000123", "contract_key": "CT-100"}
    before = rows()

    told = outcome(simulate(Scene(found, (SAID, Text("sim")), identity=identity), with_everybody(Outside())))

    assert told.last is not None and told.last.validations
    assert {one.source for one in told.last.validations} == {"called"}
    assert told.lines[0].intent is not None and told.lines[0].intent.by == "keyword"
    assert told.last.status == "EXECUTING", told.last
    assert told.next_call is not None and told.next_call.tool == told.last.tool
    assert {one["tool"] for one in contas.calls} <= {one.tool for one in told.last.validations}
    assert contas.effects == []
    assert rows() == before
