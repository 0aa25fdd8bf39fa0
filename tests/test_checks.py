"""System checks: each combination of settings that is wrong is named, and none that is right."""

import pytest
from django.test import override_settings

from agentplatform import checks

PRODUCTION = {
    "IS_PRODUCTION": True,
    "OFFLINE_MODEL": False,
    "LLM_BASE_URL": "https://llm.example.org/v1",
    "ALLOW_OFFLINE_MODEL": False,
    "REDIS_URL": "redis://redis.example.org/0",
    "USES_SQLITE": False,
}
ALL = (
    checks.check_language_model,
    checks.check_database_of_workers,
    checks.check_production_is_one_process,
    checks.check_production_database,
)


def ids(**changed):
    with override_settings(**(PRODUCTION | changed)):
        return {message.id for check in ALL for message in check()}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, set()),
        ({"LLM_BASE_URL": ""}, {"agentplatform.E001"}),
        ({"OFFLINE_MODEL": True}, {"agentplatform.E001"}),
        ({"LLM_BASE_URL": "", "ALLOW_OFFLINE_MODEL": True}, set()),
        ({"USES_SQLITE": True}, {"agentplatform.W001", "agentplatform.W003"}),
        ({"REDIS_URL": ""}, {"agentplatform.W002"}),
        (
            {"IS_PRODUCTION": False, "REDIS_URL": "", "USES_SQLITE": True, "LLM_BASE_URL": ""},
            set(),
        ),
    ],
)
def test_wrong_combinations_are_named(changed, expected):
    assert ids(**changed) == expected


def test_every_message_says_what_to_do():
    with override_settings(**(PRODUCTION | {"USES_SQLITE": True, "REDIS_URL": "", "LLM_BASE_URL": ""})):
        messages = [message for check in ALL for message in check()]

    assert messages
    assert all(message.hint for message in messages)
