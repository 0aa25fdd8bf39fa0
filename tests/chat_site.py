"""The product's urls with those of the chat."""

from django.urls import include, path

from agentplatform.demo_page import demo
from agentplatform.pages import home
from agentplatform.urls import urlpatterns as product

urlpatterns = [
    path("", home),
    path("demo/", demo),
    path("api/v1/", include("transactions.api.chat_urls")),
    *product,
]
