"""`chainrule.generate`: texts that continue a prompt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import OptionError, UsageError
from chainrule.protocols import LanguageModel
from chainrule.runs import LoadedRun, opened, task_of
from chainrule.task_protocols import Generates, WritesFiles, WritesTogether

if TYPE_CHECKING:
    from chainrule.generation.generate import Generated

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


def generate(run: str | Path | LoadedRun, prompt: str = "", *, num: int = 1, max_tokens: int = 100,
             stop: Sequence[str] = (), sampling: Sampling | None = None) -> list[Generated]:
    """Texts that continue a prompt, e.g. `generate(run, "the", sampling=Sampling(temperature=0.8, seed=1))`.

    What a run writes may be no text, but music or a picture: then `text` is its own notation, and `write_files` makes
    files of it.
    """
    from chainrule.generation.generate import generate as write
    from chainrule.text.tokenizer import name_unseen_words

    if isinstance(stop, str):
        stop = [stop]
    how = sampling or Sampling()
    strategy, filters = how.strategy(), how.filters()
    loaded = opened(run, to_write=True)
    task, prompt = task_of(loaded), read_prompt(loaded, prompt)
    if isinstance(task, Generates):
        _check(num, max_tokens, stop)
        return task.generated(loaded, prompt, num=num, max_tokens=max_tokens, sampling=how)
    model = loaded.offering(LanguageModel, "generate")
    name_unseen_words(loaded.tokenizer, prompt)
    return write(model, loaded.tokenizer, prompt, num=num, max_tokens=max_tokens, strategy=strategy,
                 filters=filters, stop=stop)


def read_prompt(run: str | Path | LoadedRun, prompt: str, length: int | None = None) -> str:
    """A prompt as the run reads it: of music and pictures it names a file, of which the first `length` steps count."""
    loaded = opened(run, to_write=True)
    task = task_of(loaded)
    if isinstance(task, WritesFiles):
        return task.read_prompt(loaded, prompt, length) if prompt else ""
    if length is not None:
        raise OptionError("prompt_length", length, "none, since the prompt is a text", "Give a shorter text.")
    return prompt


def check_out(run: str | Path | LoadedRun, out: str | Path) -> None:
    """Refuses a file that a run cannot write; call it before the work."""
    loaded, path = opened(run, to_write=True), Path(out)
    task = task_of(loaded)
    if not isinstance(task, WritesFiles):
        raise UsageError(f"--out = {str(out)!r}: {loaded.path} writes text, which is printed. Try: chainrule generate "
                         f"{loaded.path} … > {path.stem}.txt")
    task.check_file(path)


def write_files(run: str | Path | LoadedRun, prompt: str, generated: Sequence[Generated], out: str | Path
                ) -> list[Path]:
    """Writes what was generated, each with the prompt before it: song.mid, or song-1.mid, song-2.mid … of several.

    Pictures are put into one file.
    """
    loaded, path = opened(run, to_write=True), Path(out)
    check_out(loaded, path)
    task: Any = task_of(loaded)
    if isinstance(task, WritesTogether):
        task.write_together(loaded, generated, path)
        return [path]
    names = [path] if len(generated) == 1 else [path.with_name(f"{path.stem}-{n}{path.suffix}")
                                                for n in range(1, len(generated) + 1)]
    text = read_prompt(loaded, prompt)
    for name, each in zip(names, generated, strict=True):
        task.write_generated(loaded, text, each, name)
    return names


def _check(num: int, max_tokens: int, stop: Sequence[str]) -> None:
    for name, value in (("num", num), ("max_tokens", max_tokens)):
        if value < 1:
            raise OptionError(name, value, "at least 1")
    if stop:
        raise OptionError("stop", list(stop), "none", "What is written is no text.")
