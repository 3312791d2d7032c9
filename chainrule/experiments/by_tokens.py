"""Models whose tokens lose text are ranked by perplexity, where they have predicted the very same tokens."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.evaluation.significance import studentized
from chainrule.experiments.pairs import tested
from chainrule.experiments.standings import Standing, of_loss

LOSSLESS = "characters_and_bytes"


@dataclass(frozen=True)
class Ranking:
    """The rows that compare, the best first; what their numbers are, and the differences between them."""

    by: str  # bits_per_byte or perplexity
    members: Sequence[Standing]
    pairs: Sequence[Mapping[str, Any]]

    @property
    def best(self) -> dict[str, Any] | None:
        return self.members[0].row if self.members else None


def same_tokens(standings: Sequence[Standing]) -> list[list[Standing]]:
    """Groups of rows whose tokens lose text in the same way: the same tokenizer gave the same held-out ids."""
    groups: dict[tuple[Any, Any], list[Standing]] = {}
    for each in standings:
        if each.unit_tokens is not None:
            key = {(facts["tokenizer"], facts.get("ids")) for facts in each.outcomes}
            if len(key) == 1:
                groups.setdefault(key.pop(), []).append(each)
    return [sorted(group, key=lambda each: each.row["perplexity"]) for group in groups.values()]


def by_perplexity(standings: Sequence[Standing]) -> Ranking:
    """The ranking of models none of which has comparable bits per byte; empty unless all of them share their tokens."""
    groups = same_tokens(standings)
    lossy = [each for each in standings if each.unit_tokens is not None]
    if len(groups) != 1 or len(groups[0]) < len(lossy):
        return Ranking("bits_per_byte", (), ())
    return Ranking("perplexity", groups[0], put_perplexities(groups[0]))


def put_perplexities(group: Sequence[Standing]) -> list[dict[str, Any]]:
    """Sets the interval of each row's perplexity, and returns all pairs: a − b in bits per token.

    The interval is 2 to the power of that of bits per token, so it is never below 1.
    """
    own, tokens = [np.asarray(each.unit_bits) for each in group], np.asarray(group[0].unit_tokens, np.float64)
    couples = list(itertools.combinations(range(len(group)), 2))
    found = studentized(np.stack([*own, *(own[a] - own[b] for a, b in couples)], axis=1), tokens)
    for each, interval in zip(group, found, strict=False):
        ends = of_loss(interval)
        each.row["perplexity_interval"] = ends and [2.0**end for end in ends]
        each.row["spread"], each.row["perplexity_spread"] = _spreads(each)
    names = [each.row["name"] for each in group]
    return tested([(names[a], names[b]) for a, b in couples], found[len(group):])


def _spreads(each: Standing) -> tuple[float | None, float | None]:
    """The standard deviations over seeds: of bits per token, and of perplexity."""
    bits = np.array(each.seed_bits) / _tokens(each)
    return (None, None) if len(bits) < 2 else (float(np.std(bits, ddof=1)), float(np.std(2**bits, ddof=1)))


def notes(standings: Sequence[Standing], ranking: Ranking) -> list[str]:
    """What rows whose tokens lose text can be compared by."""
    groups = same_tokens(standings)
    found = [f"{_names(each for group in groups for each in group)}: the tokenizer loses text, so its bits per byte "
             f"are not comparable. --tokenizer {LOSSLESS} or byte_pair loses none."] if groups else []
    for group in (group for group in groups if len(group) > 1):
        told = ", ".join(f"{each.row['name']} {each.row['perplexity']:,.1f}" for each in group)
        found.append(f"{_names(group)}: have the same {_tokens(group[0]):,} held-out tokens, so they "
                     f"compare by perplexity{'.' if ranking.by == 'perplexity' else f': {told}.'}")
    if ranking.by == "perplexity":
        tokens = np.asarray(ranking.members[0].unit_tokens)
        found.append(f"intervals come from {len(tokens):,} block{'' if len(tokens) == 1 else 's'} of about "
                     f"{tokens.mean():,.0f} tokens of consecutive text, as if they were independent.")
    return found


def _tokens(each: Standing) -> int:
    return int(np.asarray(each.unit_tokens).sum())


def _names(group: Any) -> str:
    return ", ".join(each.row["name"] for each in group)
