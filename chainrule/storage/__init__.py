"""Run folders: a trained model is a folder with a manifest."""
