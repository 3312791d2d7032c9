"""How gradients change parameters, one optimizer a file."""

PARTS = "engine optimizer"
