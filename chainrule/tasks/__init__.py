"""What is learned, one task a file: what it reads, its loss, its measures, and what a finished run can do."""

PARTS = "task"
