"""Training neural models: one loop, its budget, optimizers, schedules and checkpoints."""
