"""Contracts: checks that every part of a kind must pass. The tests run them on all parts, users on their own."""
