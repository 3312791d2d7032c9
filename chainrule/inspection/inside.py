"""Everything shown about one model, from the values that it recorded while it scored a passage."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arrays import to_numpy
from chainrule.inspection.attention import maps, shortened
from chainrule.inspection.backoff import answers, by_order
from chainrule.inspection.neighbors import neighbors
from chainrule.inspection.rollout import rollout
from chainrule.inspection.similarity import cosine, linear_cka, pairwise, states, unbiased_cka
from chainrule.models.inside.positions import MEASURES
from chainrule.protocols import Layered, Tokenizer
from chainrule.text.tokenizer import spelled
from chainrule.watching import Seen

DIGITS = 4  # of each number in a matrix
MOST_NEIGHBORED = 100  # different tokens whose neighbors are looked for


@dataclass(frozen=True)
class Observations:
    """The values that one model recorded: `seen` has those of each unit, `longest` is the unit shown in detail."""

    model: str
    seen: Sequence[Seen]
    units: Sequence[np.ndarray]
    longest: int
    tokenizer: Tokenizer

    def each(self, name: str) -> list[Any]:
        """The first value of this name in each unit; [] if the model records no such value."""
        return [seen[self.model + name][0] for seen in self.seen if self.model + name in seen]

    @property
    def layered(self) -> Layered | None:
        """The model itself, where it is made of layers."""
        found = self.each("model")
        return found[0] if found else None

    @property
    def deep(self) -> Seen:
        return self.seen[self.longest]

    def read(self, count: int) -> list[str]:
        """The first tokens of the unit shown in detail; <s> comes first."""
        ids = [self.tokenizer.start, *self.units[self.longest].tolist()]
        return [spelled(self.tokenizer, id) for id in ids[:count]]


Section = Callable[[Observations], dict[str, Any] | None]


def models_in(seen: Seen) -> list[str]:
    """The prefix of each model's names: nothing for the model itself, `members.0/` for a member."""
    found = {re.match(r"(members\.\d+/)*", name)[0] for name in seen}  # type: ignore[index]
    return sorted(found | {""}, key=lambda place: [int(number) for number in re.findall(r"\d+", place)])


def inside(observed: Observations) -> dict[str, Any]:
    """Every section that applies to this model, and one line that names those that other models of layers have."""
    found = {name: section(observed) for name, (section, _) in SECTIONS.items()}
    name = observed.model.rstrip("/").replace("members.", "member ") or "the model"
    missing = [what for key, (_, what) in SECTIONS.items() if found[key] is None and key in OF_LAYERS]
    said = [f"left out, since this model has none: {', '.join(missing)}."] if missing and observed.layered else []
    return {"name": name, "said": [*said, *_limits(observed, found)],
            **{key: value for key, value in found.items() if value is not None}}


def _limits(observed: Observations, found: dict[str, Any]) -> list[str]:
    """Which part of the passage maps and layers show, if not all of it."""
    length = len(observed.units[observed.longest])
    where = f"unit {observed.longest + 1}, the longest" if len(observed.units) > 1 else "the text"
    counts = {what: len(found[key]["read"]) for key, what in (("attention", "attention"), ("layers", "layers"))
              if found[key]}
    said = []
    for count in sorted(set(counts.values())):
        if count < length or len(observed.units) > 1:
            what = " and ".join(name for name, own in counts.items() if own == count)
            why = "" if count == length else ", as many as a page can hold" if count < max(counts.values()) else (
                ", one window of the model")
            said.append(f"{what}: of the first {count:,} tokens of {where}{why}.")
    return said


def members(observed: Observations) -> dict[str, Any] | None:
    """Of a mixture: the weights, and ln p of each token by each member."""
    found = observed.each("members")
    if not found:
        return None
    return {"weights": list(found[0][0]),
            "log_probs": np.concatenate([np.stack([to_numpy(own)[0] for own in scores]) for _, scores in found],
                                        axis=1).tolist()}


def backoff(observed: Observations) -> dict[str, Any] | None:
    """Of an n-gram model: the order that gave each token's probability, and the contexts it backed off from."""
    rows, longest = [], 0
    for unit, path in zip(observed.units, observed.each("path"), strict=False):
        words = [spelled(observed.tokenizer, id) for id in [observed.tokenizer.start, *unit.tolist()]]
        longest = path.backoffs.shape[-1] + 1
        first = type(path)(path.order[0], path.stored[0], path.backoffs[0])
        rows += [(words[: t + 1], answer) for t, answer in enumerate(answers(first))]
    if not rows:
        return None
    return {"orders": by_order([answer for _, answer in rows], longest),
            "tokens": [{"order": answer.order, "stored": answer.stored, "probability": answer.probability,
                        "context": before[len(before) - answer.order + 1:],
                        "left": [{"context": before[-step.context:], "weight": step.weight} for step in answer.steps]}
                       for before, answer in rows]}


def attention(observed: Observations) -> dict[str, Any] | None:
    """Each layer's and head's map, and the rollout up to each layer."""
    found = shortened(maps(observed.deep, observed.model))
    if not found:
        return None
    names = _layer_names(observed)
    return {"read": observed.read(found[0].weights.shape[-1]),
            "layers": [{"name": names[each.layer], "heads": _rounded(each.weights)} for each in found],
            "rollout": [_rounded(each) for each in rollout([each.weights for each in found])]}


def layers(observed: Observations) -> dict[str, Any] | None:
    """The hidden states of each pair of layers, compared in three ways."""
    found = states(observed.deep, observed.model)
    if not found:
        return None
    values = list(found.values())
    return {"read": observed.read(len(values[0])), "names": ["embedding", *_layer_names(observed)],
            "cosine": _rounded(pairwise(values, cosine)), "cka": _rounded(pairwise(values, linear_cka)),
            "unbiased_cka": _rounded(pairwise(values, unbiased_cka))}


def positions(observed: Observations) -> dict[str, Any] | None:
    """The model's positions, and fixed forms for comparison."""
    layered = observed.layered
    found = layered.position_similarity() if layered else []
    return {"measures": MEASURES, "forms": [
        {"name": each.name, "own": each.own, "measure": each.measure, "similarity": _rounded(each.similarity)}
        for each in found]} if found else None


def nearby(observed: Observations) -> list[dict[str, Any]] | None:
    """The nearest tokens, by their embeddings, of the different tokens of the text."""
    layered = observed.layered
    if layered is None:
        return None
    ids = list(dict.fromkeys(np.concatenate(observed.units).tolist()))[:MOST_NEIGHBORED]
    tokenizer, table_VD = observed.tokenizer, layered.token_vectors()
    return [{"id": id, "text": spelled(tokenizer, id),
             "near": [{"text": spelled(tokenizer, other), "cosine": round(value, DIGITS)} for other, value in near]}
            for id, near in zip(ids, neighbors(table_VD, ids, leave_out=[tokenizer.start]), strict=True)]


SECTIONS: dict[str, tuple[Any, str]] = {
    "members": (members, "members"), "backoff": (backoff, "back-off paths"), "attention": (attention, "attention"),
    "layers": (layers, "hidden layers"), "positions": (positions, "positions"), "neighbors": (nearby, "embeddings"),
}

OF_LAYERS = ("attention", "layers", "positions", "neighbors")  # what a model of layers may have


def _layer_names(observed: Observations) -> tuple[str, ...]:
    return observed.layered.layer_names if observed.layered else ()


def _rounded(values: np.ndarray) -> list[Any]:
    return np.round(values, DIGITS).tolist()
