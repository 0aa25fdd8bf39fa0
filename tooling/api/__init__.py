"""The definitions over HTTP (contracts.md §3)."""
