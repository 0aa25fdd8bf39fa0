"""Every page and endpoint of the product."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

from agentplatform.demo_page import demo
from agentplatform.pages import home
from agentplatform.schemas import definition_schema
from tooling.admin.file_import import import_files
from transactions.console.login import ThrottledLoginView

handler404 = "transactions.api.problems.page_not_found"
handler500 = "transactions.api.problems.server_error"

urlpatterns = [
    path("", home, name="home"),
    path("demo/", demo, name="demo"),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}console/icon.svg"), name="favicon"),
    path("login/", ThrottledLoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("console/", include("transactions.console.urls")),
    # One login page for everybody, so that its limit holds for the administration too.
    path("admin/login/", RedirectView.as_view(pattern_name="login", query_string=True)),
    path("admin/tooling/import-files/", admin.site.admin_view(import_files), name="import-files"),
    path("admin/tooling/replay/", include("transactions.replay.urls")),
    path("admin/tooling/simulate/", include("transactions.trying.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("transactions.api.urls")),
    path("api/v1/definitions/", include("tooling.api.urls")),
    path("schemas/definitions/<str:kind>.json", definition_schema, name="definition-schema"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
]
