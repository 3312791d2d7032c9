"""What neural models are made of: one idea a file, each usable with any other."""
