"""Template tags of the definitions."""
