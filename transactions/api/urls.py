"""Every endpoint below /api/v1/ that the runtime answers."""

from django.urls import include, path, re_path

from transactions.api import evidence, export, replay, retry, review, simulate, views

urlpatterns = [
    path("", include("transactions.api.chat_urls")),
    path("definitions/simulate/", simulate.SimulateView.as_view(), name="definitions-simulate"),
    path("definitions/replay/", replay.ReplayListView.as_view(), name="definitions-replay"),
    path("definitions/replay/<uuid:pk>/", replay.ReplayRunView.as_view(), name="definitions-replay-run"),
    path("transactions/", views.TransactionListView.as_view(), name="transactions-list"),
    re_path("^transactions/export/?$", export.TransactionExportView.as_view(), name="transactions-export"),
    path("transactions/<uuid:pk>/", views.TransactionDetailView.as_view(), name="transactions-detail"),
    path("transactions/<uuid:pk>/evidence/", evidence.TransactionEvidenceView.as_view(), name="transactions-evidence"),
    path("transactions/<uuid:pk>/items/<str:key>/resolve/", review.ItemResolveView.as_view(), name="items-resolve"),
    path("transactions/<uuid:pk>/retry/", retry.RetryView.as_view(), name="transactions-retry"),
    path("transactions/<uuid:pk>/review/", review.ReviewView.as_view(), name="transactions-review"),
]
