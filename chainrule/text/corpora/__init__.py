"""Corpus readers and built-in corpora."""

from chainrule.text.corpora.corpus import Chunk, Corpus, Document
from chainrule.text.corpora.opening import open_corpus

__all__ = ["Chunk", "Corpus", "Document", "open_corpus"]
