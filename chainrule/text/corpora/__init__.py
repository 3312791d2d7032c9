"""Corpus readers and built-in corpora."""
