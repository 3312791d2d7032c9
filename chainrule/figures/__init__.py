"""Figures as self-contained SVG and HTML, for files and notebooks: nothing has to be installed, no script runs."""
