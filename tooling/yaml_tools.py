"""Tools, policies and parameter mappings: merged mappings of the files → specs, legacy keys included."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tooling.effective import Legacy, PolicyDefaults, PolicyEntry
from tooling.specs import (
    ArgumentSpec,
    ArgumentType,
    Atomicity,
    CacheSpec,
    ExecutionMode,
    ExecutionSpec,
    ExtractSpec,
    Idempotency,
    MappingSpec,
    OnIntentShift,
    OperationType,
    PolicySpec,
    PreValidationSpec,
    Strategy,
    ToolSpec,
    ToolType,
)
from tooling.yaml_fields import MAX_INTEGER, Fields, Report, fields_of_each
from tooling.yaml_nodes import Entry, ListNode, MapNode, Place, ScalarNode, describe, is_null, shorten, to_json

ALIASES = {
    "list": ArgumentType.ARRAY,
    "str": ArgumentType.STRING,
    "int": ArgumentType.INTEGER,
    "float": ArgumentType.NUMBER,
    "bool": ArgumentType.BOOLEAN,
}
DURATION = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(slots=True)
class Tools:
    """The tools of the files, and what each said about its own use, with the places of that."""

    specs: dict[str, ToolSpec] = field(default_factory=dict)
    legacy: dict[str, Legacy] = field(default_factory=dict)
    legacy_entries: dict[str, dict[str, Entry]] = field(default_factory=dict)


def read_tools(node: MapNode, report: Report) -> Tools:
    tools = Tools()
    for name, fields in fields_of_each(node, report):
        tool_type = fields.choice("tool_type", ToolType, "tool.type_unknown")
        enabled = fields.boolean("enabled")
        tools.specs[name] = ToolSpec(
            name=name,
            description=fields.localized("description"),
            mcp_server=fields.text("mcp_server"),
            enabled=enabled is not False,
            tool_type=tool_type or ToolType.QUERY,
            arguments=_arguments(fields),
            selection_keywords=fields.texts("selection_keywords") or (),
            cache=_cache(fields),
            response=fields.json_map("response"),
            safe_to_simulate=fields.boolean("safe_to_simulate") is True,
        )
        requires = fields.texts("requires") or ()
        tools.legacy[name] = Legacy(tool_type, requires, fields.boolean("confirmation_required"))
        entries = {key: fields.entry(key) for key in ("requires", "confirmation_required")}
        tools.legacy_entries[name] = {key: entry for key, entry in entries.items() if entry}
        fields.finish()
    return tools


def _cache(fields: Fields) -> CacheSpec:
    inner = fields.mapping("cache")
    if inner is None:
        return CacheSpec()
    cache = CacheSpec(bool(inner.boolean("enabled")), inner.integer("ttl_seconds", least=0) or 0)
    inner.finish()
    return cache


def _arguments(fields: Fields) -> tuple[ArgumentSpec, ...]:
    inner = fields.mapping("args_schema")
    arguments = []
    for entry in inner.node.entries if inner else ():
        if isinstance(entry.value, MapNode):
            arguments.append(_argument(entry.key, Fields(entry.value, entry.place, fields.report)))
        elif isinstance(entry.value, ScalarNode) and (is_null(entry.value) or isinstance(entry.value.value, str)):
            kind, form = read_type(str(entry.value.value or "string"), entry.value.place, fields.report)
            arguments.append(ArgumentSpec(entry.key, kind, format=form))
        else:
            message = f"{entry.key}: expected a type or a mapping, got {describe(entry.value)}"
            fields.report.error("argument.type", message, entry.value.place)
    return tuple(arguments)


def _argument(name: str, fields: Fields) -> ArgumentSpec:
    kind, form = _type(fields)
    argument = ArgumentSpec(
        name=name,
        type=kind or ArgumentType.STRING,
        label=fields.localized("label"),
        description=fields.localized("description"),
        user_prompt=fields.localized("user_prompt"),
        enum=fields.json_list("enum"),
        format=fields.text("format", form),
        items=_items(fields),
    )
    fields.finish()
    return argument


def _type(fields: Fields) -> tuple[ArgumentType | None, str]:
    text = fields.text("type")
    entry = fields.entry("type")
    if not text or entry is None:
        return None, ""
    return read_type(text, entry.value.place, fields.report)


def read_type(text: str, place: Place, report: Report) -> tuple[ArgumentType, str]:
    """(type, format) of a declared type; aliases get a warning, unknown ones an error."""
    known = [kind.value for kind in ArgumentType]
    if text in known:
        return ArgumentType(text), ""
    if text in ALIASES:
        report.warning("type.alias", f'type "{text}" read as {ALIASES[text]}', place)
        return ALIASES[text], ""
    if text == "date":
        report.warning("type.alias", 'type "date" read as string with format date', place)
        return ArgumentType.STRING, "date"
    message = f'type "{shorten(text)}" is none of {", ".join(known)}, date'
    report.error("argument.type_unknown", message, place)
    return ArgumentType.STRING, ""


def _items(fields: Fields) -> dict[str, object]:
    """The element schema of an array, its type in our words."""
    inner = fields.mapping("items")
    if inner is None:
        return {}
    items: dict[str, object] = to_json(inner.node)
    kind, form = _type(inner)
    if kind is not None:
        items["type"] = kind.value
        if form:
            items.setdefault("format", form)
    return items


def read_defaults(node: MapNode, report: Report) -> PolicyDefaults:
    fields = Fields(node, node.place, report)
    operation = fields.choice("operation_type", OperationType, "policy.operation_type_unknown")
    defaults = PolicyDefaults(operation, fields.boolean("require_confirmation"))
    fields.finish()
    return defaults


def read_policies(node: MapNode, report: Report) -> dict[str, PolicyEntry]:
    return {name: _policy(name, fields) for name, fields in fields_of_each(node, report)}


def _policy(name: str, fields: Fields) -> PolicyEntry:
    reconcile = fields.mapping("reconcile")
    rest = PolicySpec(
        tool=name,
        requires=fields.texts("requires") or (),
        pre_validation=_pre_validation(fields),
        execution=_execution(fields),
        reconcile_tool=reconcile.text("tool") if reconcile else "",
        idempotency=fields.choice("idempotency", Idempotency, "policy.idempotency_unknown") or Idempotency.NONE,
        on_intent_shift=fields.choice("on_intent_shift", OnIntentShift, "policy.on_intent_shift_unknown")
        or OnIntentShift.ABANDON,
        expires_after=_expires_after(fields),
        timeout_seconds=fields.number("timeout_seconds"),
        max_items=fields.integer("max_items"),
        atomicity=fields.choice("atomicity", Atomicity, "policy.atomicity_unknown") or Atomicity.BEST_EFFORT,
        requires_identity=bool(fields.boolean("requires_identity")),
    )
    operation = fields.choice("operation_type", OperationType, "policy.operation_type_unknown")
    entry = PolicyEntry(rest, operation, fields.boolean("require_confirmation"))
    if reconcile:
        reconcile.finish()
    fields.finish()
    return entry


def _pre_validation(fields: Fields) -> PreValidationSpec:
    inner = fields.mapping("pre_validation")
    if inner is None:
        return PreValidationSpec()
    enabled, tool = inner.boolean("enabled"), inner.text("tool")
    fail_open = bool(inner.boolean("fail_open"))
    inner.finish()
    return PreValidationSpec(bool(tool) if enabled is None else enabled, tool, fail_open)


def _execution(fields: Fields) -> ExecutionSpec:
    inner = fields.mapping("execution")
    if inner is None:
        return ExecutionSpec()
    mode = inner.choice("mode", ExecutionMode, "policy.execution_mode_unknown")
    workflow = inner.text("workflow")
    entry = inner.entry("version")
    is_active = entry is not None and to_json(entry.value) == "active"
    version = None if is_active else inner.integer("version", least=1)
    inner.finish()
    if mode is None:
        mode = ExecutionMode.WORKFLOW if workflow else ExecutionMode.DIRECT_TOOL
    return ExecutionSpec(mode, workflow, version)


def _expires_after(fields: Fields) -> int | None:
    """Seconds of an integer plus s|m|h|d."""
    entry = fields.entry("expires_after")
    if entry is None:
        return None
    value = entry.value.value if isinstance(entry.value, ScalarNode) else None
    found = DURATION.fullmatch(value) if isinstance(value, str) else None
    seconds = int(found["count"]) * SECONDS[found["unit"]] if found else 0
    if 0 < seconds <= MAX_INTEGER:
        return seconds
    fields.wrong("policy.expires_after", "expires_after", "a time such as 30m (s, m, h or d)", entry.value)
    return None


@dataclass(slots=True)
class Mappings:
    shared: MappingSpec
    own: dict[str, MappingSpec]


def read_mappings(defaults: MapNode, tools: MapNode, report: Report) -> Mappings:
    shared = _mapping("", Fields(defaults, defaults.place, report))
    own = {name: _mapping(name, fields) for name, fields in fields_of_each(tools, report)}
    return Mappings(shared, own)


def _mapping(tool: str, fields: Fields) -> MappingSpec:
    mapping = MappingSpec(
        tool,
        fields.text_map("map"),
        fields.json_map("defaults"),
        tuple(_extract(name, inner) for name, inner in fields.each("extract")),
    )
    fields.finish()
    return mapping


def read_extracts(node: MapNode, report: Report) -> tuple[ExtractSpec, ...]:
    """The ``extract`` part of one tool's mapping."""
    return tuple(_extract(name, fields) for name, fields in fields_of_each(node, report))


def _extract(name: str, fields: Fields) -> ExtractSpec:
    strategy = fields.choice("strategy", Strategy, "mapping.strategy_unknown")
    kind, _ = _type(fields)
    pattern = fields.text("pattern")
    if strategy is None:
        strategy = Strategy.REGEX if pattern else Strategy.LLM
    extract = ExtractSpec(
        field=name,
        source=fields.text("from", "message"),
        type=kind or ArgumentType.STRING,
        strategy=strategy,
        description=fields.localized("description"),
        pattern=pattern,
        group=fields.integer("group", least=0) or 0,
    )
    fields.finish()
    return extract


def report_legacy(tools: Tools, policies: dict[str, PolicyEntry], report: Report) -> None:
    """Say what became of ``requires`` and ``confirmation_required`` of tools.yaml."""
    for tool, entries in tools.legacy_entries.items():
        policy = policies.get(tool)
        requires, confirmation = entries.get("requires"), entries.get("confirmation_required")
        if requires:
            _index_requires(tool, requires, policy, report)
            became = f"united with the policy of {tool}" if policy else f"used because {tool} has no policy entry"
            message = f"requires belongs in tool_policies.yaml; {became}"
            report.warning("tool.legacy_requires", message, requires.place)
        if confirmation:
            message = "confirmation_required belongs in tool_policies.yaml"
            decides = policy is not None and policy.require_confirmation is not None
            became = f"; the policy of {tool} decides" if decides else " (require_confirmation)"
            report.warning("tool.legacy_confirmation", message + became, confirmation.place)


def _index_requires(tool: str, entry: Entry, policy: PolicyEntry | None, report: Report) -> None:
    """Let a finding about a value that came from tools.yaml point there."""
    known = policy.rest.requires if policy else ()
    items = entry.value.items if isinstance(entry.value, ListNode) else ()
    added = [item for item in items if to_json(item) not in known]
    for number, item in enumerate(added, start=len(known)):
        report.places["tool_policies", tool, "requires", str(number)] = item.place
