"""The pages of a tool that check its contract: what would be called, the check itself, and what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.defaults import permission_denied

from tooling import contract_linting
from tooling.admin.base import DraftAdmin
from tooling.admin.linting_words import planned_words, shown_report, values_wanted
from tooling.admin.live_words import said_of
from tooling.contract_linting import BadValue, BusyServer, Look, NoListing
from tooling.drafts import draft
from tooling.linting.faults import Grade
from tooling.linting.probes import Plan, Uncallable
from tooling.linting.words import GRADES
from tooling.models import Tool, ToolGrade
from tooling.probing import judged
from tooling.specs import JSON

PAGES = "admin/tooling/tool/"
LEVELS = {Grade.GOOD: messages.SUCCESS, Grade.UNSAFE: messages.ERROR}


class ContractAdmin(DraftAdmin):
    """Adds the grade to lists and pages of tools, and "Check contract…" with its pages."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.contract)
        return [path("<int:pk>/contract/", view, name="tooling_tool_contract"), *super().get_urls()]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        grade_all(changelist.result_list)
        return changelist

    @admin.display(description=gettext_lazy("contract"))
    def contract_grade(self, tool: Tool) -> str:
        """The grade of the newest check, with a word where the definition changed since, and the way to its page."""
        if not tool.pk:
            return "—"
        return render_to_string(f"{PAGES}grade.html", {"tool": tool, **graded(tool)})

    def contract(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the newest check; on POST first what a new one would call, and then make just these calls."""
        may_check = self.has_change_permission(request)
        if not (may_check if request.method == "POST" else self.has_view_or_change_permission(request)):
            return permission_denied(request, PermissionDenied())
        tool = get_object_or_404(Tool.objects.select_related("server"), pk=pk)
        if request.method != "POST":
            return self._result(request, tool, may_check)
        try:
            seen = contract_linting.look(tool.server.name)
            values, wrong = values_of(seen, tool.name, request)
            planned = seen.plan(tool.name, values)
            is_same = request.POST.get("seen") == contract_linting.fingerprint_of(seen, planned)
            if request.POST.get("step") == "run" and isinstance(planned, Plan) and is_same and not wrong:
                return self._run(request, tool, seen, values)
        except NoListing as unheard:
            level, text = said_of(tool.server.name, judged(unheard.outcome, unheard.seconds))
            messages.add_message(request, level, text)
            return HttpResponseRedirect(contract_url(tool))
        if request.POST.get("step") == "run" and not wrong:
            messages.warning(request, _("This is not what you have seen: look again at what would be called."))
        return self._planned(request, tool, seen, planned, wrong)

    def _run(self, request: HttpRequest, tool: Tool, seen: Look, values: Mapping[str, JSON]) -> HttpResponse:
        try:
            by = request.user.get_username()
            for found in contract_linting.lint(seen, [tool.name], {tool.name: values}, by=by):
                said = {"tool": tool.name, "grade": GRADES[found.grade]}
                level = LEVELS.get(found.grade, messages.WARNING)
                messages.add_message(request, level, _("Contract of “%(tool)s” checked: %(grade)s.") % said)
        except BusyServer:
            text = _("The server “%(server)s” is being checked by somebody else now. Look again in a moment.")
            messages.warning(request, text % {"server": tool.server.name})
        return HttpResponseRedirect(contract_url(tool))

    def _result(self, request: HttpRequest, tool: Tool, may_check: bool) -> HttpResponse:
        grade = ToolGrade.objects.filter(tool=tool.name).first()
        context = {
            "title": _("Contract of %(tool)s") % {"tool": tool},
            "graded": graded(tool),
            "report": shown_report(grade.report) if grade else None,
            "may_check": may_check,
        }
        return self._page(request, tool, "contract.html", context)

    def _planned(
        self, request: HttpRequest, tool: Tool, seen: Look, planned: Plan | Uncallable, wrong: Mapping[str, str]
    ) -> HttpResponse:
        context = {
            "title": _("Check the contract of %(tool)s?") % {"tool": tool},
            "planned": planned_words(planned),
            "wanted": values_wanted(seen.definitions.tools[tool.name], planned, request.POST, wrong),
            "seen": contract_linting.fingerprint_of(seen, planned),
            "may_run": isinstance(planned, Plan) and not wrong,
        }
        return self._page(request, tool, "contract_plan.html", context)

    def _page(self, request: HttpRequest, tool: Tool, name: str, context: Mapping[str, Any]) -> HttpResponse:
        everything = {**self.admin_site.each_context(request), "opts": self.opts, "tool": tool, **context}
        return TemplateResponse(request, PAGES + name, everything)


def contract_url(tool: Tool) -> str:
    return reverse("admin:tooling_tool_contract", args=[tool.pk])


def values_of(seen: Look, name: str, request: HttpRequest) -> tuple[dict[str, JSON], dict[str, str]]:
    """The sent values, each as the type of its argument; and of those that do not fit, what was typed."""
    tool = seen.definitions.tools[name]
    values: dict[str, JSON] = {}
    wrong: dict[str, str] = {}
    for argument in tool.argument_names:
        text = request.POST.get(f"value.{argument}", "")
        try:
            values |= contract_linting.values_for(tool, {argument: text})
        except BadValue:
            wrong[argument] = text
    return values, wrong


def grade_all(tools: Iterable[Tool]) -> None:
    """Give each of ``tools`` what its column shows, with one look at the draft for all."""
    every = list(tools)
    grades = {grade.tool: grade for grade in ToolGrade.objects.filter(tool__in=[tool.name for tool in every])}
    definitions = draft() if grades else None
    for tool in every:
        grade = grades.get(tool.name)
        is_old = (
            grade is not None
            and definitions is not None
            and tool.name in definitions.tools
            and contract_linting.definition_of(definitions, tool.name) != grade.definition
        )
        known = Grade(grade.grade) if grade else Grade.NOT_CHECKED
        said = {"grade": known, "word": GRADES[known], "checked": grade, "is_old": is_old}
        # Django calls the column with the row alone, so that only the row can carry it.
        vars(tool)["graded"] = said


def graded(tool: Tool) -> dict[str, Any]:
    """What the column of ``tool`` shows, found now where no list asked for it."""
    if "graded" not in vars(tool):
        grade_all([tool])
    said: dict[str, Any] = vars(tool)["graded"]
    return said
