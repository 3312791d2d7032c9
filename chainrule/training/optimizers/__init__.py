"""One optimizer a file: built from named parameters, it is a `torch.optim.Optimizer`."""

PARTS = "optimizer"
