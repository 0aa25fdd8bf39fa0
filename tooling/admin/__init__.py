"""The definitions in the administration: forms for the draft, the list of releases, publishing and going back."""

from tooling.admin import definitions, releases

__all__ = ["definitions", "releases"]
