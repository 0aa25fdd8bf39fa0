"""Every endpoint below /api/v1/ that the runtime answers."""

from django.urls import include, path

from transactions.api import views

urlpatterns = [
    path("", include("transactions.api.chat_urls")),
    path("transactions/", views.TransactionListView.as_view(), name="transactions-list"),
    path("transactions/<uuid:pk>/", views.TransactionDetailView.as_view(), name="transactions-detail"),
]
