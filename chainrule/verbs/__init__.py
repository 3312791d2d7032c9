"""The verbs as functions, one file each: what the command line and Python programs call."""
