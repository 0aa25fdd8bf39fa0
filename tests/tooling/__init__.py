"""Tests of the definitions: files, checks, releases, command and admin."""
