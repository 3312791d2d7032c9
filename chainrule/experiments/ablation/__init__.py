"""One recipe and its changes, each alone or combined: what helps on this data, what is noise, what to combine."""
