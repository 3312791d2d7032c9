"""Looking inside trained and untrained models."""
