"""The pages for trying messages, under the administration."""

from django.contrib import admin
from django.urls import path

from transactions.trying import case_views, views

view = admin.site.admin_view

urlpatterns = [
    path("", view(views.simulate_page), name="simulate"),
    path("cases/", view(case_views.cases), name="simulate-cases"),
    path("cases/<int:pk>/", view(case_views.case), name="simulate-case"),
]
