"""Comparisons: recipes trained under one budget, and one table of their results."""
