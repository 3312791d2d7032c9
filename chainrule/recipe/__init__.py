"""Recipes: reading and checking them, changing them, and the registry that finds the parts they name."""
