"""The operators' pages below /console/."""

from django.urls import path
from django.views.generic import RedirectView

from transactions.console import customer, retry, review, views

app_name = "console"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="console:transactions"), name="home"),
    path("transactions/", views.TransactionList.as_view(), name="transactions"),
    path("transactions/<uuid:pk>/", views.TransactionRecord.as_view(), name="transaction"),
    path("transactions/<uuid:pk>/customer/", customer.ShowCustomer.as_view(), name="customer"),
    path("transactions/<uuid:pk>/items/<str:key>/resolve/", review.ResolveItem.as_view(), name="resolve"),
    path("transactions/<uuid:pk>/retry/", retry.RetryPage.as_view(), name="retry"),
    path("transactions/<uuid:pk>/review/", review.MoveReview.as_view(), name="review"),
]
