"""From raw text to memory-mapped token ids."""
