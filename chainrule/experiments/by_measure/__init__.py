"""Comparisons by the measure of a task: accuracy, F1, correlations."""
