"""What most tasks have in common: they read text, and what a run keeps is its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.errors import UsageError
from chainrule.models.sizes import Sizes
from chainrule.task_protocols import LearnedTask, Small, Task
from chainrule.tasks._known import Known, read_facts


class OnText(Task):
    """A task whose data is text; one that reads something else overrides how it is opened and split."""

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        from chainrule.text.corpora import open_corpus

        refuse_target(self, target)
        return open_corpus(data, recipe.text)

    def split(self, corpus: Any, fraction: float, seed: int) -> tuple[Any, Any]:
        from chainrule.text.split import split

        return split(corpus, fraction, seed)


    def fold(self, corpus: Any, k: int, count: int, seed: int) -> tuple[Any, Any]:
        from chainrule.inputs.rows import fold
        from chainrule.text.split import passage_bytes

        return fold(corpus, k, count, seed, passage_bytes(corpus))


class OnRows(OnText):
    """A task whose data is examples, each of which is trained on or held out as a whole."""

    def split(self, corpus: Any, fraction: float, seed: int) -> tuple[Any, Any]:
        from chainrule.inputs.rows import parted

        return parted(corpus, fraction, seed)

    def fold(self, corpus: Any, k: int, count: int, seed: int) -> tuple[Any, Any]:
        from chainrule.inputs.rows import fold

        return fold(corpus, k, count, seed)


class Learned(OnText, LearnedTask):
    """A task that a network learns; one that knows more than a tokenizer overrides `sizes`."""

    loss_per = "token"

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return Sizes.of(vocabulary)

    def small(self, folder: Path) -> Small:
        (folder / "text.txt").write_text("the cat sat on the mat\nthe dog sat\na cat and a dog\n" * 10,
                                         encoding="utf-8")
        return Small(folder / "text.txt")

    def load_known(self, folder: Path | None, tokenizer: Any) -> Known:
        facts = read_facts(folder)
        return Known(tokenizer, self.sizes(0 if tokenizer is None else tokenizer.vocabulary_size, facts), facts)

    def rank(self, found: Mapping[str, float]) -> float:
        return found["loss"]

    def finished(self, network: Any, read: Any) -> Any:
        return read.known

    def samples(self, network: Any, known: Known) -> list[str]:
        return []


def refuse_target(task: Task, target: Any) -> None:
    """For tasks without pairs of source and target."""
    if target is not None:
        raise UsageError(f"--target = {target}: a {task.kind} is not trained on pairs. Leave it out, or choose a "
                         "recipe with sources and targets, such as translation-transformer.")
