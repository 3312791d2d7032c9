"""Numba fast paths, each naming the slow code that it must equal."""
