"""Parts of a network on the project's own engine: each says which part it stands for."""
