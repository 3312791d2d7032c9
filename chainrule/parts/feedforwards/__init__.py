"""What moves information along width, one feedforward a file."""

PARTS = "feedforward"
