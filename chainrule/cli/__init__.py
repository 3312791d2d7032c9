"""The command line: one file per verb, each importing what it needs only when it runs."""
