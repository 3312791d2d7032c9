"""From a prompt to texts: tokens in and out, stop strings, and the log-probability of each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.generation.decoder import Stops, decode
from chainrule.generation.memory_check import check_beams, check_texts
from chainrule.generation.rows import Marks
from chainrule.protocols import LanguageModel, Tokenizer, WritesElsewhere
from chainrule.recipe.registry import build

AT_ONCE = 1 << 23  # probabilities in memory at a time: rows × vocabulary
SLACK = 8  # tokens looked at before the place where a stop string could begin: a character may span several


@dataclass(frozen=True)
class Generated:
    """What follows the prompt. `ids` are its tokens, the end mark included; `log_prob` is their Σ ln p by the model."""

    text: str
    ids: tuple[int, ...]
    reason: str
    log_prob: float


def generate(model: LanguageModel, tokenizer: Tokenizer, prompt: str = "", *, num: int = 1, max_tokens: int = 100,
             strategy: str | Mapping[str, Any] = "sample", filters: Sequence[str | Mapping[str, Any]] = (),
             stop: Sequence[str] = ()) -> list[Generated]:
    """`num` texts that continue the prompt, e.g. `filters=[{"name": "top_k", "k": 40}]`; filters apply in order.

    A text ends at the end mark, before the first stop string, or after `max_tokens`.
    """
    chosen = build("generation/strategies", strategy)
    check(num, stop, chosen.results)
    check_texts(num, max_tokens)
    if chosen.results is not None:
        check_beams(chosen.results, model.vocabulary_size)
    reshaping = [build("generation/filters", choice) for choice in filters]
    stops = stop_finder(tokenizer, stop) if stop else None
    model = model.to_write() if isinstance(model, WritesElsewhere) else model
    prompt_T = np.asarray(tokenizer.encode(prompt), dtype=np.int32)
    marks = Marks(tokenizer.start, tokenizer.end, tokenizer.unknown)
    rows, drafts = num if chosen.results is None else 1, []
    at_once = max(1, AT_ONCE // model.vocabulary_size)
    for first in range(0, rows, at_once):
        prompts = [prompt_T] * min(at_once, rows - first)
        found = decode(model, prompts, chosen, marks=marks, max_tokens=max_tokens, filters=reshaping, stops=stops,
                       first=first)
        drafts += [draft for best in found for draft in best[: num // rows]]
    return [Generated(cut(continuation(tokenizer, draft.ids, draft.read), stop), draft.written, draft.reason,
                      draft.model_log_p) for draft in drafts]


def check(num: int, stop: Sequence[str], results: int | None) -> None:
    if num < 1:
        raise OptionError("num", num, "at least 1")
    if results is not None and num > results:
        raise OptionError("num", num, f"at most {results}: all that this strategy finds", "Sampling gives any number.")
    if "" in stop:
        raise OptionError("stop", "", "a text of at least one character")


def continuation(tokenizer: Tokenizer, ids: Sequence[int], read: int) -> str:
    """What `ids[read:]` add to the text of `ids[:read]`, with the space between words where there is one."""
    whole, known = (tokenizer.decode(np.array(part, dtype=np.int32)) for part in (ids, ids[:read]))
    return whole[len(known) :]


def cut(text: str, stop: Sequence[str]) -> str:
    """The text before the first stop string in it."""
    return text[: min([place for place in map(text.find, stop) if place >= 0], default=len(text))]


def stop_finder(tokenizer: Tokenizer, stop: Sequence[str]) -> Stops:
    """Whether the last token of a text completes a stop string; only the tail that could hold one is decoded."""
    reach = max(len(text.encode()) for text in stop) + SLACK

    def stops(ids: np.ndarray, read: int) -> bool:
        first = max(read, len(ids) - reach)
        text = continuation(tokenizer, ids[max(first - 1, 0) :].tolist(), min(first, 1))
        return any(word in text for word in stop)

    return stops


def readable_prompt(tokenizer: Tokenizer, prompt: str) -> str:
    """The prompt as a continuation follows it: without white space at its end that the tokenizer did not read."""
    read = tokenizer.decode(tokenizer.encode(prompt))
    return prompt if read.endswith(prompt[len(prompt.rstrip()) :]) else prompt.rstrip()
