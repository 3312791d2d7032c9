"""One schedule a file: a function of the share of the budget that is spent, so that it fits any budget."""

PARTS = "schedule"
