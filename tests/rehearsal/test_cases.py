"""A saved simulation plays again without asking anybody, and publishing plays every one of them (ux.md §1.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.builders import a_conversation, a_transaction
from tests.rehearsal.test_simulating import ACTION, LABELS, SAID, VALIDATOR, a_gateway, a_model, definitions, rows
from tests.runtime import shop
from tests.runtime.fakes import FakeGateway, FakeModel
from tests.runtime.staging import EXTRACTION
from tooling import publishing
from tooling.errors import InvalidDraft
from tooling.findings import Severity
from tooling.neighbours import neighbours
from tooling.specs import Definitions
from transactions.core.statuses import Status
from transactions.models import CaseResult, SimulationCase
from transactions.rehearsal.cases import differences, expected_of, kept_of, run_anew, run_case
from transactions.rehearsal.outcome import outcome
from transactions.rehearsal.scenes import Scene, Start, Text
from transactions.rehearsal.simulating import Outside, simulate
from transactions.services import saved_cases
from transactions.services.saved_cases import CaseMoved, NameTaken

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]


def a_case(
    name: str = "dois serviços",
    *,
    found: Definitions | None = None,
    scene: dict[str, Any] | None = None,
    **outside: Any,
) -> SimulationCase:
    asked = {"model": a_model(), "gateway": a_gateway(), **outside}
    played = Scene(found or definitions(), (SAID,))
    simulated = simulate(replace(played, **(scene or {})), Outside(**asked))
    return saved_cases.save_case(name, kept_of(simulated, expected_of(outcome(simulated))), author="ana")


def with_fail_open(found: Definitions, is_open: bool) -> Definitions:
    check = replace(found.policy(ACTION).pre_validation, fail_open=is_open)
    return shop.with_policy(found, ACTION, pre_validation=check)


def reread(case: SimulationCase) -> SimulationCase:
    return SimulationCase.objects.get(pk=case.pk)


# Playing again ------------------------------------------


def test_a_case_comes_out_as_expected_with_the_definitions_that_it_was_saved_with() -> None:
    run = run_case(reread(a_case()), definitions())

    assert (run.result, run.differences) == (CaseResult.AS_EXPECTED, ())


def test_what_is_expected_is_all_but_the_wording() -> None:
    expected = a_case().expected

    assert expected == {
        "tool": ACTION,
        "status": "AWAITING_CONFIRMATION",
        "reason_code": "",
        "missing": [],
        "arguments": {"subject": "Música Mais, Craque 10"},
        "items": [{"label": label, "eligible": True} for label in LABELS],
        "rules": ["idle.model"],
    }


def test_a_draft_that_decides_otherwise_is_told_aspect_by_aspect() -> None:
    case = reread(a_case(found=with_fail_open(definitions(), True), gateway=None, silent=frozenset({VALIDATOR})))

    run = run_case(case, with_fail_open(definitions(), False))

    assert run.result == CaseResult.DIFFERS
    told = {one.aspect: (one.expected, one.now) for one in run.differences}
    assert told["status"] == ("AWAITING_CONFIRMATION", "REFUSED")
    assert told["reason_code"] == ("", "pre_validation_unavailable")


def test_only_what_is_expected_is_compared() -> None:
    assert differences({"status": "REFUSED"}, {"status": "REFUSED", "tool": "x"}) == ()
    assert [one.aspect for one in differences({"status": "REFUSED", "tool": "y"}, {"status": "x", "tool": "y"})] == [
        "status"
    ]


def test_a_draft_that_needs_another_reading_needs_the_model_again_and_nobody_is_asked() -> None:
    case = reread(a_case())
    other = shop.with_keywords(definitions(), {shop.INTENTS["solicitar_devolucao"]: ["cancelar"]})

    run = run_case(case, other)

    assert (run.result, run.differences) == (CaseResult.NEEDS_READING, ())


def test_a_validator_that_is_new_and_may_be_called_needs_its_answer_and_one_that_may_not_is_made_up() -> None:
    case = reread(a_case(found=shop.shop(), gateway=FakeGateway()))

    assert run_case(case, definitions(safe=True)).result == CaseResult.NEEDS_READING
    assert run_case(case, definitions(safe=False)).result == CaseResult.AS_EXPECTED


def test_a_case_whose_tool_is_gone_differs() -> None:
    start = Start(ACTION, {"subject": "Música Mais"})
    case = reread(a_case(scene={"start": start, "lines": (Text("sim"),)}, model=FakeModel()))
    without = replace(definitions(), tools={}, policies={}, intents={})

    run = run_case(case, without)

    assert (run.result, [one.aspect for one in run.differences]) == (CaseResult.DIFFERS, ["tool"])


def test_recorded_anew_the_model_is_asked_and_what_was_chosen_stays_chosen() -> None:
    case = reread(a_case(gateway=None, given={VALIDATOR: {"eligible": False}}))
    model, gateway = a_model({"subject": "Craque 10"}), FakeGateway()

    run = run_anew(case, definitions(), Outside(model=model, gateway=gateway))

    assert EXTRACTION in model.calls and gateway.calls == []
    assert [one.aspect for one in run.differences] == ["arguments"]


def test_playing_cases_leaves_no_row() -> None:
    case = a_case()
    before = rows()

    run_case(case, definitions())

    assert rows() == before


# Keeping ------------------------------------------


def test_a_name_stands_for_one_case() -> None:
    case, other = a_case("um"), a_case("dois")

    with pytest.raises(NameTaken):
        a_case("um")
    with pytest.raises(NameTaken):
        saved_cases.rename_case(other, "um", author="bia")
    assert reread(case).name == "um" and reread(other).name == "dois"


def test_what_somebody_changed_meanwhile_is_not_overwritten() -> None:
    case = a_case()
    mine, theirs = reread(case), reread(case)
    saved_cases.rename_case(theirs, "outro nome", author="bia")

    with pytest.raises(CaseMoved):
        saved_cases.rename_case(mine, "meu nome", author="ana")
    saved_cases.note_result(mine, CaseResult.DIFFERS)

    kept = reread(case)
    assert (kept.name, kept.changed_by, kept.last_result) == ("outro nome", "bia", CaseResult.AS_EXPECTED)


# Publishing ------------------------------------------


def test_publishing_is_refused_while_a_saved_simulation_differs_and_goes_on_once_the_new_result_is_accepted() -> None:
    silent = frozenset({VALIDATOR})
    case = a_case(found=with_fail_open(definitions(), False), gateway=None, silent=silent)
    publishing.replace_draft(with_fail_open(definitions(), True))

    with pytest.raises(InvalidDraft) as refused:
        publishing.publish(comment="abre")
    run = run_case(reread(case), publishing.draft())
    assert run.simulated is not None and run.seen is not None
    saved_cases.accept(case, kept_of(run.simulated, expected_of(run.seen)), author="bia")

    (found,) = [one for one in refused.value.findings if one.code == "simulation.differs"]
    assert found.path == ("simulations", "dois serviços")
    assert "ends as AWAITING_CONFIRMATION instead of REFUSED" in found.message
    assert publishing.publish(comment="abre").number == 1


def test_a_case_that_needs_the_model_again_is_a_warning() -> None:
    a_case()
    other = shop.with_keywords(definitions(), {shop.INTENTS["solicitar_devolucao"]: ["cancelar"]})

    (found,) = neighbours.rehearse(other)

    assert (found.code, found.severity) == ("simulation.needs_reading", Severity.WARNING)


def test_cases_that_come_out_as_expected_are_not_mentioned() -> None:
    a_case()

    assert list(neighbours.rehearse(definitions())) == []


def test_definitions_with_errors_are_not_played() -> None:
    a_case()
    found = definitions()
    broken = shop.with_policy(found, ACTION, requires=("nada",))

    assert list(neighbours.rehearse(broken)) == []


def test_the_same_definitions_are_played_once(django_assert_num_queries: Any) -> None:
    a_case()
    list(neighbours.rehearse(definitions()))

    with django_assert_num_queries(1):
        assert list(neighbours.rehearse(definitions())) == []


def test_a_changed_expectation_is_played_at_once() -> None:
    case = a_case()
    list(neighbours.rehearse(definitions()))
    SimulationCase.objects.filter(pk=case.pk).update(expected={"status": "REFUSED"})

    assert [one.code for one in neighbours.rehearse(definitions())] == ["simulation.differs"]


def test_what_runs_on_which_release_is_counted_with_one_query(django_assert_num_queries: Any) -> None:
    for status, release in ((Status.VERIFYING, 1), (Status.PARKED, 1), (Status.SUCCESS, 1), (Status.EXECUTING, 2)):
        a_transaction(status, release=release, conversation=a_conversation())

    with django_assert_num_queries(1):
        assert dict(neighbours.running()) == {1: 2, 2: 1}
