"""The verbs on a finished run, for Python and the command line alike: evaluate, generate, score, predict, quantize."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import UsageError
from chainrule.protocols import Classifier, LanguageModel
from chainrule.registry import find

if TYPE_CHECKING:
    import numpy as np

    from chainrule.generation.generate import Generated
    from chainrule.runs import LoadedRun
    from chainrule.text.options import TextOptions

log = logging.getLogger("chainrule")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How tokens are chosen: at random from a reshaped distribution, greedily (temperature 0), or by beam search."""

    seed: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    beams: int | None = None
    length_penalty: float | None = None

    def strategy(self) -> dict[str, Any]:
        """The one that the options ask for; options that then do nothing are named."""
        if self.beams is None and self.length_penalty is not None:
            log.info("the length penalty does nothing without beams.")
        if (self.beams is not None or self.temperature == 0) and self.seed is not None:
            log.info("the seed does nothing here: nothing is drawn at random.")
        if self.beams is not None:
            penalty = {} if self.length_penalty is None else {"length_penalty": self.length_penalty}
            return {"name": "beam", "beams": self.beams, **penalty}
        return {"name": "greedy"} if self.temperature == 0 else {"name": "sample", "seed": self.seed or 0}

    def filters(self) -> list[dict[str, Any]]:
        """What reshapes the distribution, in the order in which it acts."""
        wanted = (("repetition_penalty", "penalty", self.repetition_penalty),
                  ("temperature", "temperature", self.temperature or None),
                  ("top_k", "k", self.top_k), ("top_p", "p", self.top_p), ("min_p", "share", self.min_p))
        return [{"name": name, option: value} for name, option, value in wanted if value is not None]


def evaluate(run: str | Path | LoadedRun, data: str | Path | Sequence[str | Path], *, by_order: bool = False,
             bootstrap: int = 10_000, seed: int = 0, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Perplexity, bits per byte and their 95 % intervals on a text; `by_order` adds the shorter contexts (Shannon).

    `overrides` change how this text is read: `["text.errors=replace"]`.
    """
    from chainrule.evaluation import by_order as orders
    from chainrule.evaluation.characters import characters
    from chainrule.evaluation.evaluate import evaluate as measure
    from chainrule.text.corpora import open_corpus
    from chainrule.text.encoded import encode
    from chainrule.text.units import unit_of

    loaded = opened(run)
    family: Any = find("families", loaded.recipe.family)
    if hasattr(family, "evaluate"):  # what is no language model is measured in its own way
        if by_order or (overrides and not getattr(family, "reads_text", False)):
            loaded.offering(LanguageModel, "--by-order" if by_order else overrides[0])
        return family.evaluate(reading_otherwise(loaded, overrides), data)
    model, tokenizer = loaded.offering(LanguageModel, "evaluate"), loaded.tokenizer
    text = text_options(loaded, overrides)
    corpus = open_corpus(data, text)
    encoded = encode(corpus, tokenizer, text)
    found = measure(model, tokenizer, encoded, unit=unit_of(text, keeps_space=tokenizer.keeps_space),
                    bootstrap=bootstrap, seed=seed, characters=characters(corpus, encoded))
    if by_order:
        found["by_order"] = orders.by_order(model, tokenizer, encoded)
    return found


def generate(run: str | Path | LoadedRun, prompt: str = "", *, num: int = 1, max_tokens: int = 100,
             stop: Sequence[str] = (), sampling: Sampling | None = None) -> list[Generated]:
    """Texts that go on from a prompt, e.g. `generate(run, "the", sampling=Sampling(temperature=0.8, seed=1))`."""
    from chainrule.generation.generate import generate as write
    from chainrule.generation.generate import unseen_words

    if isinstance(stop, str):
        stop = [stop]
    how = sampling or Sampling()
    strategy, filters = how.strategy(), how.filters()
    loaded = opened(run, to_write=True)
    model = loaded.offering(LanguageModel, "generate")
    if unseen := unseen_words(loaded.tokenizer, prompt):
        log.info(f"the model never saw {', '.join(map(repr, unseen))}; it reads an unknown word instead.")
    return write(model, loaded.tokenizer, prompt, num=num, max_tokens=max_tokens, strategy=strategy,
                 filters=filters, stop=stop)


def score(run: str | Path | LoadedRun, lines: Sequence[str]) -> np.ndarray:
    """(lines,): ln p of each line on its own, its end mark included; millions of lines are scored on all cores."""
    from chainrule.evaluation.score import line_log_probs

    if isinstance(lines, str):
        raise UsageError("score takes a list of lines, not one text: score(run, [line]).")
    loaded = opened(run)
    return line_log_probs(loaded.offering(LanguageModel, "score"), loaded.tokenizer, lines)


def predict(run: str | Path | LoadedRun, texts: Sequence[str], *, top: int = 1, threshold: float = 0.0
            ) -> list[list[tuple[str, float]]]:
    """For each text its `top` likeliest labels with their probabilities, likeliest first; none below `threshold`."""
    if isinstance(texts, str):
        raise UsageError("predict takes a list of texts, not one text: predict(run, [text]).")
    return opened(run).offering(Classifier, "predict").predict(texts, top=top, threshold=threshold)


def quantize(run: str | Path | LoadedRun, out: str | Path, *, cutoff: int | None = None, piece: int = 2,
             norms: bool = True, force: bool = False) -> dict[str, Any]:
    """Makes a smaller run of a text classifier: `cutoff` features at most, a byte for every `piece` numbers."""
    from chainrule.classifying.shrinking import facts, shrunk, size_of
    from chainrule.families.text_classifier import save_shrunk
    from chainrule.storage import check_target

    check_target(out, replace=force)
    loaded = opened(run)
    small = shrunk(loaded.offering(Classifier, "quantize"), cutoff=cutoff, piece=piece, norms=norms,
                   seed=loaded.recipe.seed)
    found = facts(loaded.model, small)
    save_shrunk(loaded, small, Path(out), {**found, "cutoff": cutoff, "piece": piece, "norms": norms}, replace=force)
    return {"run": str(out), **found, "bytes": size_of(Path(out)), "bytes_before": size_of(loaded.path)}


def text_options(run: LoadedRun, overrides: Sequence[str]) -> TextOptions:
    """How a run reads text, changed by `text.…=value`; what else a recipe says is settled."""
    from chainrule.recipe import make_recipe

    for word in overrides:
        if not word.startswith("text."):
            raise UsageError(f"{word}: only text.… can be changed now, the model is trained; try text.errors=replace.")
    return make_recipe(run.recipe.model_dump(mode="json"), overrides).text if overrides else run.recipe.text


def reading_otherwise(run: LoadedRun, overrides: Sequence[str]) -> LoadedRun:
    """The run with another way to read text."""
    if not overrides:
        return run
    return replace(run, recipe=run.recipe.model_copy(update={"text": text_options(run, overrides)}))


def opened(run: str | Path | LoadedRun, *, to_write: bool = False) -> LoadedRun:
    """The run, loaded unless it is already."""
    from chainrule.runs import LoadedRun, load

    return run if isinstance(run, LoadedRun) else load(run, to_write=to_write)
