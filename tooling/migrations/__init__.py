"""The database history of the definitions."""
