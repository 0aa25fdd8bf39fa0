"""The pages of replays, below the administration and guarded by it."""

from django.contrib import admin
from django.urls import path

from transactions.replay import views

urlpatterns = [
    path("", admin.site.admin_view(views.replay), name="replay"),
    path("<uuid:pk>/", admin.site.admin_view(views.replay_run), name="replay-run"),
    path("<uuid:pk>/state/", admin.site.admin_view(views.replay_state), name="replay-state"),
]
