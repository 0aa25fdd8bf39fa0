"""The definitions in the administration: forms for the draft, the list of releases, publishing and going back."""

from tooling.admin import definitions, policies, releases, servers, tools

__all__ = ["definitions", "policies", "releases", "servers", "tools"]
