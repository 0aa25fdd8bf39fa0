"""One form per kind of definition; each refuses what could never be published and says why."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from tooling import drafts, yaml_io
from tooling.checks_of_sets import check_name, check_profile, check_router, check_server
from tooling.checks_of_tools import check_extract
from tooling.checks_of_workflows import check_workflow, workflow_path
from tooling.content import from_plain, to_plain
from tooling.forms.base import DefinitionForm, add_findings, raise_errors
from tooling.forms.fields import (
    LinesField,
    LocalizedField,
    NamesField,
    PairsField,
    TimeField,
    YamlField,
    raise_problems,
)
from tooling.forms.policy_notes import with_notes
from tooling.forms.wording import said, told
from tooling.models import (
    Intent,
    LlmProfile,
    McpServer,
    ParameterMapping,
    Policy,
    RouterSettings,
    Tool,
    ToolArgument,
    Workflow,
)
from tooling.neighbours import neighbours
from tooling.specs import Phrases, ProfileSpec, RouterSpec, ServerSpec

PHRASE_LOCALES = ("pt-BR", "en")


class ServerForm(DefinitionForm):
    args = LinesField(rows=3)
    headers = PairsField(rows=3)
    env = PairsField(rows=3)

    class Meta:
        model = McpServer
        fields = ["name", "transport", "endpoint", "command", "args", "enabled", "headers", "env"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            server = from_plain(ServerSpec, cleaned)
            add_findings(self, check_server(server, settings.MCP_STDIO_COMMANDS))
        return cleaned


class ToolForm(DefinitionForm):
    description = LocalizedField(rows=3)
    selection_keywords = LinesField(rows=4)
    response = YamlField(rows=2)

    class Meta:
        model = Tool
        fields = [
            "name", "description", "server", "enabled", "tool_type", "selection_keywords", "cache_enabled",
            "cache_ttl_seconds", "response", "safe_to_simulate",
        ]  # fmt: skip


class PolicyForm(DefinitionForm):
    requires = NamesField()
    pre_validation_tool = forms.ChoiceField(required=False)
    reconcile_tool = forms.ChoiceField(required=False)
    workflow = forms.ChoiceField(required=False)
    expires_after = TimeField(label=_("Expires after"))

    class Meta:
        model = Policy
        exclude: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        policy: Policy | None = self.instance if self.instance.pk else None
        requires = self.fields.get("requires")
        if isinstance(requires, NamesField):
            arguments = policy.tool.arguments.all() if policy else ToolArgument.objects.none()
            requires.offer([(one.name, one.name) for one in arguments], policy.requires if policy else [])
        self._offer("pre_validation_tool", _tools_by_operation("internal"))
        self._offer("reconcile_tool", _tools_by_operation("internal", "read_only"))
        workflows = sorted(set(Workflow.objects.values_list("name", flat=True)))
        self._offer("workflow", workflows)
        with_notes(self, policy)

    def _offer(self, field: str, names: list[str]) -> None:
        """The names to choose from; what is stored stays choosable, so that saving never loses it silently."""
        choice = self.fields.get(field)
        if isinstance(choice, forms.ChoiceField):
            stored = getattr(self.instance, field)
            extra = [stored] if stored and stored not in names else []
            choice.choices = [("", "—"), *((name, name) for name in [*names, *extra])]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("pre_validation_enabled") and not cleaned.get("pre_validation_tool"):
            self.add_error("pre_validation_tool", _("Pre-validation is on and names no validator."))
        if cleaned.get("execution_mode") == "workflow" and not cleaned.get("workflow"):
            self.add_error("workflow", _("Choose the workflow to run."))
        for name in ("timeout_seconds", "max_items", "workflow_version"):
            if cleaned.get(name) is not None and cleaned[name] <= 0:
                self.add_error(name, _("Write a number above 0, or leave it empty."))
        return cleaned


def _tools_by_operation(*operations: str) -> list[str]:
    policies = drafts.draft().policies
    return sorted(name for name, policy in policies.items() if policy.operation_type.value in operations)


class MappingForm(DefinitionForm):
    map = PairsField(rows=3)
    defaults = YamlField(rows=3)
    extract = forms.CharField(required=False, strip=False)

    class Meta:
        model = ParameterMapping
        fields = ["tool", "map", "defaults", "extract"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attributes = {"rows": 8, "cols": 60, "spellcheck": "false"}
        self.fields["extract"].widget = forms.Textarea(attrs=attributes)
        extracts = drafts.mapping_of(self.instance).extract
        self.initial["extract"] = yaml_io.dump(yaml_io.extract_keys(extracts)).rstrip() if extracts else ""

    def clean_extract(self) -> list[Any]:
        text = self.cleaned_data["extract"] or ""
        extracts, problems = yaml_io.read_extract_text(text)
        raise_problems(problems)
        raise_errors((one for extract in extracts for one in check_extract(extract, (extract.field,))), skip=0)
        return [to_plain(extract) for extract in extracts]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not any(cleaned.get(part) for part in ("map", "defaults", "extract")):
            raise ValidationError(
                _("This mapping fills nothing. Write at least one argument in one of the three fields.")
            )
        return cleaned


class IntentForm(DefinitionForm):
    description = LocalizedField(rows=3)
    mcp_tools = NamesField()
    keywords = LinesField(rows=6)
    examples = LinesField(rows=6)

    class Meta:
        model = Intent
        fields = [
            "name", "description", "mcp_tools", "keywords", "examples", "priority", "enabled", "domain", "agent",
        ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["mcp_tools"]
        assert isinstance(field, NamesField)  # noqa: S101 - declared a few lines above
        tools = Tool.objects.exclude(tool_type="internal").values_list("name", flat=True)
        field.offer([(name, name) for name in tools], self.instance.mcp_tools)


def phrase_field(locale: str, answer: str) -> str:
    """The name of the form field for the phrases of one language that confirm or reject."""
    return f"{answer}_{locale.replace('-', '_').lower()}"


class RouterForm(DefinitionForm):
    confirm_pt_br = LinesField(label=_("Confirming phrases, Portuguese"))
    reject_pt_br = LinesField(label=_("Rejecting phrases, Portuguese"))
    confirm_en = LinesField(label=_("Confirming phrases, English"))
    reject_en = LinesField(label=_("Rejecting phrases, English"))

    class Meta:
        model = RouterSettings
        fields = ["confidence_threshold"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        phrases, shipped = self.instance.confirmation_phrases, neighbours.phrases()
        for locale in PHRASE_LOCALES:
            known = shipped.get(locale.split("-")[0], Phrases())
            for answer, words in (("confirm", known.confirm), ("reject", known.reject)):
                name = phrase_field(locale, answer)
                self.initial[name] = phrases.get(locale, {}).get(answer, [])
                if name in self.fields and words:
                    self.fields[name].help_text = _("One per line. Understood anyway: %(words)s.") % {
                        "words": ", ".join(words)
                    }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        phrases = dict(self.instance.confirmation_phrases)
        for locale in PHRASE_LOCALES:
            phrases[locale] = {answer: cleaned[phrase_field(locale, answer)] for answer in ("confirm", "reject")}
        router = RouterSpec(
            cleaned["confidence_threshold"],
            {locale: from_plain(Phrases, texts) for locale, texts in phrases.items() if any(texts.values())},
        )
        for finding in check_router(router):
            locale, answer = (*finding.path[2:4], "", "")[:2]
            name = phrase_field(locale, answer)
            self.add_error(name if name in self.fields else None, said(finding.message))
        self.instance.confirmation_phrases = to_plain(router.confirmation_phrases)
        return cleaned


class ProfileForm(DefinitionForm):
    class Meta:
        model = LlmProfile
        fields = [
            "name", "provider", "model", "base_url", "api_key_env", "temperature", "max_tokens", "timeout_seconds",
        ]  # fmt: skip

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            add_findings(self, check_profile(from_plain(ProfileSpec, cleaned)))
        return cleaned


class WorkflowForm(DefinitionForm):
    """A workflow as the text of its file; name and version are part of it."""

    text = forms.CharField(label=_("Workflow"), strip=False)

    class Meta:
        model = Workflow
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attributes = {"rows": 30, "cols": 90, "spellcheck": "false", "class": "code"}
        self.fields["text"].widget = forms.Textarea(attrs=attributes)
        self.fields["text"].help_text = _(
            "As in workflows/NAME.vN.yaml: name, version, start, nodes and edges. Of the edges whose condition holds "
            "the lowest priority is taken."
        )
        if self.instance.pk:
            workflow = drafts.workflow_of(self.instance)
            self.initial["text"] = yaml_io.dump(yaml_io.workflow_keys(workflow))

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"])
        workflow, problems = yaml_io.read_workflow_text(text)
        if workflow is None:
            raise ValidationError([told(problem) for problem in problems])
        others = Workflow.objects.exclude(pk=self.instance.pk)
        if others.filter(name=workflow.name, version=workflow.version).exists():
            message = _("%(name)s version %(version)d is there already; raise the version.")
            raise ValidationError(message % {"name": workflow.name, "version": workflow.version})
        raise_errors(check_name(workflow.name, (*workflow_path(workflow), "name")), skip=3)
        raise_errors(check_workflow(workflow, drafts.draft()), skip=3)
        plain = to_plain(workflow)
        self.instance.name, self.instance.version = plain.pop("name"), plain.pop("version")
        self.instance.content = plain
        return text
