"""From a model to text: one decode loop for every family."""
