"""One program that shows curves a file: it gets every row of metrics.jsonl while a model is trained."""

PARTS = "logger"
