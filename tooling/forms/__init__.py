"""The forms of the definitions in the administration."""
