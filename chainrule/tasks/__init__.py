"""What a neural model is trained for: batches, a loss and a measure on text that was kept aside."""
