"""``manage.py definitions``: files, draft, releases, and how live servers differ (contracts.md §1, §5, §7)."""

from __future__ import annotations

import json
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.db.transaction import atomic

from tooling import catalog, file_schemas, importing, publishing, server_checks, yaml_io
from tooling.errors import NothingChanged, ToolingError
from tooling.findings import Finding
from tooling.hints import hint_of
from tooling.management.lint_server import Wanted, lint_server
from tooling.specs import Definitions, Kind
from tooling.yaml_io import Problem

AUTHOR = "manage.py"


class Command(BaseCommand):
    help = "Validate, import, export, publish, roll back and compare the definitions of tools; check live servers."
    requires_system_checks = ()
    explains = False
    """Whether what is doubtful is told, too, and beside everything what to do about it: ``-v 2``."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        validate = actions.add_parser("validate", help="say what is wrong with files; changes nothing")
        validate.add_argument("paths", nargs="+", type=Path, metavar="DIR-or-FILE")
        importing = actions.add_parser("import", help="make the draft equal to the files")
        importing.add_argument("paths", nargs="+", type=Path, metavar="DIR-or-FILE")
        importing.add_argument("--publish", action="store_true", help="also publish the draft")
        importing.add_argument("-m", "--message", default="", help="the release's comment")
        export = actions.add_parser("export", help="write the newest release as files")
        export.add_argument("directory", type=Path)
        chosen = export.add_mutually_exclusive_group()
        chosen.add_argument("--draft", action="store_true", help="the draft instead")
        chosen.add_argument("--release", type=int, metavar="N", help="an earlier release instead")
        publish = actions.add_parser("publish", help="make the draft the next release")
        publish.add_argument("-m", "--message", default="", help="the release's comment")
        publish.add_argument("--force", action="store_true", help="even if nothing changed")
        for reading in (validate, importing):
            reading.add_argument("--keep", action="store_true", help="what the files do not name stays in the draft")
        for explaining in (validate, importing, publish):
            words = "2: what is doubtful, too, and what to do about it"
            explaining.add_argument("-v", "--verbosity", type=int, choices=range(4), default=SUPPRESS, help=words)
        rollback = actions.add_parser("rollback", help="publish an earlier release once more")
        rollback.add_argument("number", type=int)
        rollback.add_argument("-m", "--message", default="", help="the release's comment")
        check = actions.add_parser("check-servers", help="where live servers differ from the newest release")
        check.add_argument("servers", nargs="*", metavar="SERVER")
        check.add_argument("--accept", action="store_true", help="approve what they say now from now on")
        live = actions.add_parser("import-server", help="add the tools that a live server lists to the draft")
        live.add_argument("server", metavar="NAME", help="a server of the draft")
        live.add_argument("--tool", action="append", default=[], dest="tools", help="only this tool; may be repeated")
        live.add_argument("--dry-run", action="store_true", help="only say what would be added")
        lint = actions.add_parser("lint-server", help="how the tools of a live server keep the contract; dry runs only")
        lint.add_argument("server", metavar="NAME", help="a server of the draft")
        lint.add_argument("--tool", action="append", default=[], dest="tools", help="only this tool; may be repeated")
        lint.add_argument("--value", action="append", default=[], dest="values", metavar="ARGUMENT=VALUE")
        lint.add_argument("--json", action="store_true", dest="as_json", help="the whole report as JSON")
        schema = actions.add_parser("schema", help="the JSON Schema of one kind of file, or of all by kind")
        schema.add_argument("kind", nargs="?", choices=[kind.value for kind in Kind])
        diff = actions.add_parser("diff", help="newest release ↔ draft, N ↔ draft, or N ↔ M")
        diff.add_argument("old", nargs="?", type=int, metavar="N")
        diff.add_argument("new", nargs="?", type=int, metavar="M")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        self.explains = options.get("verbosity", 1) > 1
        actions: dict[str, Callable[..., None]] = {
            "validate": self.validate,
            "import": self.import_files,
            "export": self.export,
            "publish": self.publish,
            "rollback": self.roll_back,
            "check-servers": self.check_servers,
            "import-server": self.import_server,
            "lint-server": self.lint_server,
            "schema": self.schema,
            "diff": self.diff,
        }
        names = {
            "paths", "publish", "message", "directory", "draft", "release", "force", "number", "old", "new", "servers",
            "accept", "server", "tools", "dry_run", "kind", "values", "as_json", "keep",
        }  # fmt: skip
        try:
            actions[action](**{name: options[name] for name in names & options.keys()})
        except ToolingError as error:
            raise CommandError(str(error)) from error

    def validate(self, paths: Sequence[Path], keep: bool) -> None:
        """Files are checked as ``import`` would: kinds found nowhere are those of the draft, if there is one."""
        self._read(paths, _draft_or_none(), keep)
        self.stdout.write("valid")

    @atomic
    def import_files(self, paths: Sequence[Path], publish: bool, message: str, keep: bool) -> None:
        if publish and not message.strip():
            raise CommandError('--publish needs a comment: -m "what changes for users"')
        definitions, kinds = self._read(paths, publishing.draft(), keep)
        publishing.change_draft(definitions, kinds=kinds, author=AUTHOR, via=publishing.Via.COMMAND)
        self.stdout.write(f"the draft now holds {len(definitions.tools)} tools")
        if publish:
            self.publish(message)

    def _read(self, paths: Sequence[Path], base: Definitions | None, keep: bool) -> tuple[Definitions, frozenset[Kind]]:
        commands, doubts = settings.MCP_STDIO_COMMANDS, self.explains
        reading = yaml_io.read_sets(paths, stdio_commands=commands, base=base, keep=keep, with_doubts=doubts)
        for problem in reading.problems:
            self._tell(problem, hint_of(problem.code) if not problem.hint else "")
        if reading.definitions is None:
            errors = sum(problem.is_error for problem in reading.problems)
            raise CommandError(f"{errors} error{'s' if errors > 1 else ''}; nothing was changed")
        return reading.definitions, reading.kinds

    def _tell(self, found: Problem | Finding, hint: str) -> None:
        """One line as editors read it; what to do in a second one, where that is asked for with ``-v 2``."""
        self.stderr.write(str(found), lambda text: text)
        if hint and self.explains:
            self.stderr.write(f"  hint: {hint}", lambda text: text)

    def export(self, directory: Path, draft: bool, release: int | None) -> None:
        files = yaml_io.write(_chosen(draft, release), schemas=settings.DEFINITION_SCHEMAS_URL)
        # The empty folder says that there are no workflows; without it an import would leave those of the draft.
        (directory / Kind.WORKFLOWS).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (directory / name).write_text(text, "utf-8")
        for path in sorted((directory / Kind.WORKFLOWS).iterdir()):
            if f"{Kind.WORKFLOWS}/{path.name}" not in files:
                self.stderr.write(f"{path}: warning: not part of this export; remove it before importing")
        self.stdout.write(f"{len(files)} files in {directory}")

    def publish(self, message: str, force: bool = False) -> None:
        try:
            release = publishing.publish(comment=message, author=AUTHOR, force=force)
        except NothingChanged as unchanged:
            self.stdout.write(f"release {unchanged.number} already holds exactly this; nothing was published")
        else:
            if self.explains:
                for finding in publishing.check_draft():
                    self._tell(finding, finding.hint)
            self.stdout.write(f"published release {release.number} ({release.hash[:12]})")

    def roll_back(self, number: int, message: str) -> None:
        try:
            release = publishing.roll_back(number, message, AUTHOR)
        except NothingChanged as unchanged:
            self.stdout.write(f"release {unchanged.number} already holds exactly this; nothing was published")
        else:
            self.stdout.write(f"published release {release.number} with the content of release {number}")

    def check_servers(self, servers: Sequence[str], accept: bool) -> None:
        """One line per difference; exit status 1 where there is one, or where a server gives no listing."""
        known = server_checks.enabled_servers(catalog.current().definitions)
        if unknown := [name for name in servers if name not in known]:
            others = ", ".join(known) or "none"
            raise CommandError(f"no enabled server with tools: {', '.join(unknown)}; there is {others}")
        is_as_published = True
        for checked in server_checks.check_servers(servers, accept=accept):
            lines = [server_checks.in_english(each) for each in checked.differences]
            lines += [f"not listed: {checked.failure}"] if checked.failure else []
            is_as_published = is_as_published and not lines
            for line in lines or ["as published"]:
                self.stdout.write(f"{checked.server}: {line}")
        if not is_as_published:
            raise CommandError("not every server is as published")

    def import_server(self, server: str, tools: Sequence[str], dry_run: bool) -> None:
        """Each tool as the type that the server suggests: it is said, and the draft is there to be corrected."""
        seen = importing.look(server)
        if not seen.probe.is_good:
            raise CommandError(f"{server} gave no list of tools: {seen.probe.reason}")
        listed = {found.tool.name for found in seen.discovery.found}
        for name in seen.discovery.known:
            self.stdout.write(f"{name}: already in the draft; left as it is")
        for refused in seen.discovery.refused:
            self.stderr.write(f"{refused.name}: warning: {importing.refusal_in_english(refused)}", lambda text: text)
        if missing := [name for name in tools if name not in listed and name not in seen.discovery.known]:
            raise CommandError(f"cannot be imported from {server}: {', '.join(missing)}; nothing was changed")
        chosen = {
            one.tool.name: one.tool.tool_type for one in seen.discovery.found if not tools or one.tool.name in tools
        }
        planned = importing.plan(seen.discovery, chosen)
        for found in (one for one in seen.discovery.found if one.tool.name in planned.tools):
            self.stdout.write(f"{found.tool.name}: {importing.why_in_english(found)}")
            for note in found.notes:
                self.stdout.write(f"{found.tool.name}: {importing.note_in_english(note)}")
        if dry_run:
            self._show(planned)
        else:
            self.stdout.write(
                f"{len(importing.write(planned, by=AUTHOR))} tools added to the draft; nothing is published"
            )

    def _show(self, planned: importing.Plan) -> None:
        files = yaml_io.write(planned.alone())
        for name in (f"{Kind.TOOLS}.yaml", f"{Kind.POLICIES}.yaml"):
            self.stdout.write(f"# {name}\n{files[name]}")

    def lint_server(self, server: str, tools: Sequence[str], values: Sequence[str], as_json: bool) -> None:
        """One line per fault and one for what to do; exit status 1 where a tool is unsafe."""
        lint_server(Wanted(server, tools, values, as_json), self.stdout)

    def schema(self, kind: str | None) -> None:
        every = {each.value: file_schemas.schema_of(each) for each in Kind}
        self.stdout.write(json.dumps(every[kind] if kind else every, indent=2, ensure_ascii=False))

    def diff(self, old: int | None, new: int | None) -> None:
        before = catalog.release(old) if old is not None else catalog.current()
        after = catalog.release(new).definitions if new is not None else publishing.draft()
        changes = publishing.diff(before.definitions, after)
        for change in changes:
            self.stdout.write(str(change))
        if not changes:
            self.stdout.write("no difference")


def _chosen(draft: bool, release: int | None) -> Definitions:
    """What to export: the draft where asked for or where nothing is published yet, else a release."""
    if release is not None:
        return catalog.release(release).definitions
    newest = None if draft else catalog.newest()
    return newest.definitions if newest else publishing.draft()


def _draft_or_none() -> Definitions | None:
    """The draft; None where there is no database yet, which validating files does not need."""
    try:
        return publishing.draft()
    except DatabaseError:
        return None
