"""Tasks, one a file: what is read, the loss, the metrics, and what a finished run can do."""

PARTS = "task"
