"""chainrule: every family of sequence model, trained, compared and looked into in the same way."""

__version__ = "0.1.0"
