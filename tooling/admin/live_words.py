"""What the pages of a server say of a try to reach it and of the tools that it lists, in the reader's language."""

from __future__ import annotations

from django.contrib import messages
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tooling.discovery import RefusalKind, Refused, Why
from tooling.forms.wording import said
from tooling.probing import Probe, Reached
from tooling.schema_reading import Note, NoteKind


def said_of(server: str, found: Probe) -> tuple[int, str]:
    """(level of the message, what came of one try); in marks, because Django writes the first letter large."""
    seconds = number_format(round(found.seconds, 1))
    return _level(found.reached), f"“{server}”: " + _told(found) % {
        "n": len(found.tools),
        "seconds": seconds,
        "why": found.reason,
    }


def _level(reached: Reached) -> int:
    match reached:
        case Reached.WELL:
            return messages.SUCCESS
        case Reached.SLOWLY:
            return messages.WARNING
        case _:
            return messages.ERROR


def _told(found: Probe) -> str:
    match found.reached:
        case Reached.WELL:
            return ngettext(
                "connected in %(seconds)s s; it lists %(n)d tool.",
                "connected in %(seconds)s s; it lists %(n)d tools.",
                len(found.tools),
            )
        case Reached.SLOWLY:
            return _("connected, but slowly: the list of %(n)d tools took %(seconds)s s.")
        case Reached.NOT_CONNECTED:
            return _("nobody answers there, or the command cannot be started (%(why)s).")
        case Reached.NOT_LET_IN:
            return _("it answers, but does not let us in: check the credentials in its headers (%(why)s).")
        case Reached.NOT_MCP:
            return _("something answers, but not as an MCP server does (%(why)s).")
        case Reached.TOO_SLOW:
            return _("no answer within %(seconds)s s; it may be slow, or not speak MCP (%(why)s).")
        case Reached.NOT_TRIED:
            return _("not tried: %(why)s.")


def why_words(why: Why) -> str:
    match why:
        case Why.SAYS_READ_ONLY:
            return _("The server says that this tool only reads. Nobody checked that.")
        case Why.SAYS_IT_CHANGES:
            return _("The server says that this tool changes something.")
        case Why.SAYS_BOTH:
            return _("The server contradicts itself: it says that this tool only reads and that it destroys.")
        case Why.SAYS_NOTHING:
            return _("The server does not say whether this tool changes something; to be on the safe side it asks.")


def told_of_note(note: Note) -> str:
    names = {"argument": note.argument, "types": note.detail}
    if not note.argument:
        return _note_of_tool(note)
    match note.kind:
        case NoteKind.UNTYPED:
            return _("%(argument)s: the server names no type; declared as text") % names
        case NoteKind.NARROWED:
            return _("%(argument)s: the server takes several types (%(types)s); one of them is declared") % names
        case NoteKind.SIMPLIFIED:
            return _("%(argument)s: the server's rules for what is inside cannot be kept and are left out") % names
        case NoteKind.LEFT_OUT:
            return _("%(argument)s: left out, because its name cannot be used here") % names
        case NoteKind.VALUES:
            return _("%(argument)s: not all allowed values could be kept") % names
        case NoteKind.FORMAT:
            return _("%(argument)s: its format is too long and was left out") % names
        case NoteKind.CUT:
            return _("%(argument)s: its description was cut") % names


def _note_of_tool(note: Note) -> str:
    if note.kind is NoteKind.CUT:
        return _("The description was cut.")
    return _("The server's schema has rules between arguments that cannot be kept; they are left out.")


def refused_words(refused: Refused) -> str:
    detail = {"detail": refused.detail}
    match refused.kind:
        case RefusalKind.NAME:
            return _("its name cannot be used: letters, digits, _ . - and : only, 100 at most")
        case RefusalKind.TWICE:
            return _("the server lists it twice; the first one counts")
        case RefusalKind.TAKEN:
            return _("the draft has a tool of this name from the server %(detail)s") % detail
        case RefusalKind.NO_OBJECT:
            return _("its input schema does not describe an object")
        case RefusalKind.TOO_LARGE:
            return _("its input schema is too large: %(detail)s bytes") % detail
        case RefusalKind.TOO_MANY:
            return _("it has too many arguments: %(detail)s") % detail
        case RefusalKind.ARGUMENT_NAME:
            return _("it requires the argument “%(detail)s”, whose name cannot be used here") % detail
        case RefusalKind.INVALID:
            return said(refused.detail)
        case RefusalKind.TOO_MANY_TOOLS:
            return _("%(detail)s more tools are listed and were not read") % detail
