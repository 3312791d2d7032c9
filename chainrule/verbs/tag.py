"""`chainrule.tag`: a tag for each word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.errors import UsageError
from chainrule.inputs.word_splitting import split_words
from chainrule.protocols import Tagger
from chainrule.runs import LoadedRun, opened


def tag(run: str | Path | LoadedRun, texts: Sequence[str | Sequence[str]], *, spaces: bool = False
        ) -> list[list[tuple[str, str]]]:
    """For each text its words, each with its tag.

    A text may be a list of words already. Otherwise it is split at white space, marks before and behind a word being
    words of their own; with `spaces`, at white space alone. Tags of entities keep the rules of their scheme.
    """
    if isinstance(texts, str | bytes):
        raise UsageError("tag takes a list of texts, not one text: tag(run, [text]).")
    model = opened(run).offering(Tagger, "tag")
    words = [split_words(each, spaces=spaces) if isinstance(each, str) else list(each) for each in texts]
    return [list(zip(own, tags, strict=True)) for own, tags in zip(words, valid_tags(model, words), strict=True)]


def valid_tags(model: Tagger, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """What a tagger gives, with tags that break the rules of its scheme repaired: O I-X is O B-X."""
    from chainrule.evaluation.tagging import scheme_of
    from chainrule.inputs.tag_schemes import repaired

    scheme = scheme_of(model.tags)
    return [repaired(each, scheme)[0] for each in model.tag(sentences)]
