"""What the pages of MCP servers say about the live server: where it differs from the published definitions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from tooling import catalog, server_checks
from tooling.drift import Difference, Kind
from tooling.models import ServerState


def summary(state: ServerState | None) -> str:
    """One sentence; the differences themselves are said by ``details``."""
    if state is None or state.checked_at is None:
        return _("not checked yet")
    if state.differs_since is not None:
        return _("differs from the published definitions since %(when)s") % {"when": _moment(state.differs_since)}
    if state.listed_at is None:
        return _("could not be asked: %(why)s") % {"why": state.failure}
    return _("as published, checked %(when)s") % {"when": _moment(state.listed_at)}


def details(state: ServerState | None) -> list[str]:
    """Every difference in words, and why the last look failed."""
    if state is None:
        return []
    told = [told_of(Difference.of(each)) for each in state.findings]
    if state.failure and state.listed_at is not None:
        told.append(_("the last look failed: %(why)s") % {"why": state.failure})
    return told


def told_of(difference: Difference) -> str:
    names = {"tool": difference.tool, "argument": difference.argument, "values": difference.detail}
    match difference.kind:
        case Kind.TOOL_GONE:
            return _("the tool %(tool)s is not offered any more") % names
        case Kind.ARGUMENT_REQUIRED:
            return _("%(tool)s: the argument %(argument)s is new and required; calls without it may fail") % names
        case Kind.ARGUMENT_GONE:
            return _("%(tool)s: the server does not know the argument %(argument)s") % names
        case Kind.ARGUMENT_TYPE:
            return _("%(tool)s: the argument %(argument)s has another type there: %(values)s") % names
        case Kind.ARGUMENT_ENUM:
            return _("%(tool)s: the argument %(argument)s does not take these values: %(values)s") % names
        case Kind.DESCRIPTION_CHANGED:
            return _("%(tool)s: the description changed after it was published; prompts keep the published one") % names
        case Kind.SCHEMA_CHANGED:
            return _("%(tool)s: the input schema changed after it was published") % names


def look(names: Sequence[str], *, accept: bool) -> list[str]:
    """Compare the named servers now, and say of each what was found; ``accept``: approve what they say."""
    if catalog.newest() is None:
        return [_("Nothing is published yet.")]
    checked = {each.server: each for each in server_checks.check_servers(names, accept=accept)}
    told = []
    for name in names:
        found = checked.get(name)
        if found is None:
            lines = [_("is not published with an enabled tool, or is being checked by somebody else")]
        elif found.failure:
            lines = [_("could not be asked: %(why)s") % {"why": found.failure}]
        else:
            lines = [told_of(each) for each in found.differences] or [_("as published")]
        # In marks, because Django writes the first letter of a message large.
        told += [f"“{name}”: {line}" for line in lines]
    return told


def _moment(at: datetime) -> str:
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")
