"""The definitions in the administration: forms for the draft, the list of releases, publishing and going back."""

from tooling.admin import definitions, policies, releases, requests, servers, tools

__all__ = ["definitions", "policies", "releases", "requests", "servers", "tools"]
