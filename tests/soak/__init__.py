"""The soak: the whole product under random SIGKILLs, judged by the MCP server's own ledger. ``make soak`` runs it."""
