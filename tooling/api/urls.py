"""Every endpoint below /api/v1/definitions/."""

from django.urls import path, re_path

from tooling.api import draft, releases, requests

urlpatterns = [
    path("draft/", draft.DraftView.as_view(), name="definitions-draft"),
    path("validate/", draft.ValidateView.as_view(), name="definitions-validate"),
    path("publish/", draft.PublishView.as_view(), name="definitions-publish"),
    path("releases/", releases.ReleaseListView.as_view(), name="definitions-releases"),
    path("releases/<int:number>/", releases.ReleaseView.as_view(), name="definitions-release"),
    re_path(r"^releases/(?P<number>[0-9]{1,9})/diff/?$", releases.DiffView.as_view(), name="definitions-diff"),
    path("releases/<int:number>/rollback/", releases.RollbackView.as_view(), name="definitions-rollback"),
    path("requests/", requests.RequestListView.as_view(), name="definitions-requests"),
    path("requests/<int:number>/", requests.RequestView.as_view(), name="definitions-request"),
    path("requests/<int:number>/approve/", requests.ApproveView.as_view(), name="definitions-approve"),
    path("requests/<int:number>/reject/", requests.RejectView.as_view(), name="definitions-reject"),
    path("requests/<int:number>/withdraw/", requests.WithdrawView.as_view(), name="definitions-withdraw"),
]
