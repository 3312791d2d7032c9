"""Runnable recipes, one YAML file each."""
