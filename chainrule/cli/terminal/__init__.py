"""What draws on the terminal: tables, progress, exit codes, signals."""
