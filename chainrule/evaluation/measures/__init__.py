"""What models of a task are ranked by: one measure a file."""

PARTS = "measure"
