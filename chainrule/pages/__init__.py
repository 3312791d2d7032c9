"""Pages: one self-contained HTML file from data, drawn in the reader's browser."""
