"""What tasks with sources and targets share: pairs as batches, the loss of targets given their sources, a decoder."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inputs.arrays import padded
from chainrule.inputs.pairs import Pair, open_pairs, pairs_of
from chainrule.inputs.texts import ids_of
from chainrule.models.sizes import Sizes
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, find
from chainrule.task_protocols import Small
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._examples import STREAM
from chainrule.tasks._known import Known
from chainrule.tasks._order import generator
from chainrule.tasks._rows import Examples, RowBatches
from chainrule.tasks._task import Learned, OnRows

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.jobs import Job
    from chainrule.models.translator import NeuralTranslator

SOURCE = "source-tokenizer.json"
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class PairKnown(Known):
    """Also the tokenizer of the sources; the same as that of the targets where they share a vocabulary."""

    source: Any = None

    def save(self, folder: Path) -> None:
        super().save(folder)
        if self.source is not None and self.source is not self.tokenizer:
            self.source.save(folder / SOURCE)

    def digest(self) -> str:
        own = super().digest()
        return own if self.source is None or self.source is self.tokenizer else f"{self.source.digest()[:8]}{own}"


@dataclass(frozen=True)
class EncodedPairs:
    """Sources as arrays, targets as ids without marks."""

    sources: Sequence[np.ndarray]
    targets: Sequence[np.ndarray]

    @property
    def lengths(self) -> np.ndarray:
        """(N, 2): inputs of each source, and of its target with a mark."""
        return np.array([[len(source), 1 + len(target)] for source, target in
                         zip(self.sources, self.targets, strict=True)], np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class PairsRead:
    """What a task has read."""

    known: PairKnown
    train: EncodedPairs
    valid: EncodedPairs | None

    @property
    def tokens(self) -> int:
        """Of an epoch, of sources and targets."""
        return int(self.train.lengths.sum())


class SequenceToSequence(OnRows, Learned):
    """A task whose network writes a target, token by token, given a source.

    −1/T Σ_t ln p(w_t | w_<t, source), the end mark included.
    """

    causal = True
    view = "alignments"
    measure_name: ClassVar[str]  # a part of evaluation/measures
    units = "sentences"  # what sources are, in reports

    def __init__(self, *, source: str | int = "source", target: str | int = "target",
                 vocabulary: Literal["shared", "separate"] = "shared", reverse: bool = False,
                 inputs: Annotated[Choice, PartOf("inputs/modalities")] = "text"):
        self.columns, self.vocabulary, self.reverse = (source, target), vocabulary, reverse
        self.modality = build("inputs/modalities", inputs)

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        if hasattr(data, "fingerprint"):
            return data
        return open_pairs(data, target, self.columns, recipe.text)

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        known = facts or {}
        tokens, features = self.modality.sizes(known.get("source_vocabulary", vocabulary), known.get("inputs", {}))
        return Sizes(vocabulary, vocabulary, source=Sizes(tokens, tokens, features))

    def load_known(self, folder: Path | None, tokenizer: Any) -> PairKnown:
        from chainrule.text.tokenizer import load_tokenizer

        known = super().load_known(folder, tokenizer)
        own = tokenizer if folder is None or not (folder / SOURCE).is_file() else load_tokenizer(folder / SOURCE)
        return PairKnown(tokenizer, known.sizes, known.facts, own)

    def read(self, job: Job) -> PairsRead:
        recipe = job.recipe
        if recipe.model.source is None:
            raise OptionError("model.source", None, "a stack that reads the source, such as {pattern: (sf)*2}")
        copies = getattr(find("parts/heads", recipe.model.head["name"]), "looks_at_source", False)
        if copies and (self.vocabulary != "shared" or self.modality.endings):
            raise OptionError("model.head", recipe.model.head["name"], "tied or untied here", "A head that copies "
                              "needs sources of text in the targets' vocabulary: task.vocabulary=shared.")
        train = _filled(pairs_of(job.corpus), job.corpus.name)
        known = self._known(train, job)
        encoded = self._encoded(train, known, recipe.model)
        valid = None if job.valid is None else self._encoded(list(pairs_of(job.valid)), known, recipe.model)
        return PairsRead(known, _fitting(encoded, recipe.model, job.corpus.name, self.modality.whole), valid)

    def _known(self, train: Sequence[Pair], job: Job) -> PairKnown:
        """Tokenizers of both sides, and what the modality of the sources must know."""
        text = build("inputs/modalities", "text")
        sources, targets = [each.source for each in train], [each.target for each in train]
        if self.modality.endings:  # sources are files
            _, facts = self.modality.learn(list(dict.fromkeys(sources)), job)
            tokenizer, own = text.learn(targets, job)[0], None
        elif self.vocabulary == "shared":
            tokenizer, facts = self.modality.learn([*sources, *targets], job)
            own = tokenizer
        else:
            own, facts = self.modality.learn(sources, job)
            tokenizer = text.learn(targets, job)[0]
        found = {"inputs": facts, **({} if own is None else {"source_vocabulary": own.vocabulary_size})}
        return PairKnown(tokenizer, self.sizes(tokenizer.vocabulary_size, found), found, own)

    def _encoded(self, pairs: Sequence[Pair], known: PairKnown, model: Any) -> EncodedPairs:
        assert known.tokenizer is not None
        return EncodedPairs(self.encoded_sources([each.source for each in pairs], known, 1 << 30),
                            ids_of([each.target for each in pairs], known.tokenizer))

    def encoded_sources(self, values: Sequence[bytes], known: PairKnown, most: int) -> list[np.ndarray]:
        """As the network reads them: from the end to the beginning, if the task reverses them.

        A source that occurs several times is held once: an image may have five captions.
        """
        distinct = list(dict.fromkeys(values))
        found = self.modality.encode(distinct, known.source, known.facts.get("inputs", {}), most)
        held = dict(zip(distinct, [each[::-1] for each in found] if self.reverse else found, strict=True))
        return [held[value] for value in values]

    def training_data(self, read: PairsRead, network: Any, plan: Any, say: Any) -> RowBatches:
        tokenizer, facts = read.known.tokenizer, read.known.facts.get("inputs", {})
        train, valid = (None if each is None else self._examples(each, tokenizer, facts, plan.seed)
                        for each in (read.train, read.valid))
        assert train is not None
        data = RowBatches(read.known, train, valid, plan)
        say(f"{len(train):,} pairs in {data.steps_per_epoch:,.0f} batches of like length; {data.padding:.1%} of their "
            "places are padding.")
        return data

    def _examples(self, pairs: EncodedPairs, tokenizer: Any, facts: Any, seed: int) -> Examples:
        def collate(numbers: np.ndarray, batch: int) -> Batch:
            draw = generator(seed ^ STREAM, batch) if batch >= 0 else None
            source, lengths = self.modality.batch([pairs.sources[n] for n in numbers], facts, draw)
            wanted = [pairs.targets[n] for n in numbers]
            inputs = padded([np.concatenate([[tokenizer.start], ids]) for ids in wanted], tokenizer.end)
            targets = padded([np.concatenate([ids, [tokenizer.end]]) for ids in wanted], IGNORED)
            own = np.array([1 + len(ids) for ids in wanted])
            return Batch(inputs, targets, int(own.sum()), lengths=own, source=source, source_lengths=lengths)

        return Examples(pairs.lengths, collate)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        from chainrule.parts.reading import Reading

        reading = Reading(True, lengths=batch.lengths)
        if network.head.looks_at_source:
            return self._copying_loss(network, batch, reading, smoothing), batch.count, None
        hidden, _ = network(batch.inputs, None, reading, batch.given)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing), batch.count, None

    def _copying_loss(self, network: Any, batch: Batch, reading: Any, smoothing: float) -> Any:
        from chainrule.parts.heads._source import SeenSource

        reading = network.looking_at(batch.given, reading)
        hidden, _ = network(batch.inputs, None, reading)
        source = SeenSource(reading.source, batch.source, reading.source_lengths)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing, source=source)

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        total, count = 0.0, 0
        for batch in batches:
            loss, targets, _ = self.loss(network, batch)
            total, count = total + float(loss), count + targets
        return {"loss": total / count, "perplexity": float(np.exp(min(total / count, 700)))} if count else {}

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.tasks._generated import evaluated

        return evaluated(self, run, self.open(data, run.recipe, how.target), how)

    def judged(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], draws: int) -> dict[str, Any]:
        """The figures of texts beside their references."""
        raise NotImplementedError

    def table(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        """What the measure is computed from, sentence by sentence."""
        raise NotImplementedError

    def rules(self, train: Any, held_out: Any) -> dict[str, list[str]]:
        """What rules that anyone could write down answer to the held-out sources: the source itself."""
        return {"copy of the source": [source.decode(errors="replace") for source in held_out.sources]}

    def reading(self, recipe: Any) -> Any:
        return [str(each) for each in self.columns], recipe.task.get("inputs", "text")

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On pairs: `tasks._generated`."""
        from chainrule.tasks._generated import GeneratedTexts

        return GeneratedTexts(self, recipe, (data, valid), targets, fraction, seed)

    def small(self, folder: Path) -> Small:
        pairs = ["a cat\tune chatte", "the dog sat\tle chien", "cats\tchats"]
        (folder / "pairs.tsv").write_text("\n".join(pairs * 4) + "\n", encoding="utf-8")
        return Small(folder / "pairs.tsv", recipe={"model": {"pattern": "sxf", "source": {
            "pattern": "sf", "width": 16, "context": 16}}})

    def model(self, network: Any, known: PairKnown) -> NeuralTranslator:
        from chainrule.models.translator import NeuralTranslator

        return NeuralTranslator(network, known, self)


def _filled(pairs: Iterator[Pair], name: str) -> list[Pair]:
    """Pairs of which both sides have text; a line says how many have not."""
    found, empty = list[Pair](), list[Pair]()
    for each in pairs:
        (found if each.source.strip() and each.target.strip() else empty).append(each)
    if not found:
        raise DataError(f"{name}: no pair whose source and target both have text.")
    if empty:
        some = "1 pair with an empty side is" if len(empty) == 1 else f"{len(empty):,} pairs with an empty side are"
        log.info(f"{some} left out, the first of them in {empty[0].file}, line {empty[0].line:,}.")
    return found


def _fitting(pairs: EncodedPairs, model: Any, name: str, whole: bool) -> EncodedPairs:
    """Without the pairs that are longer than the network reads, which a line counts; `whole` sources always fit."""
    lengths = pairs.lengths
    fits = (whole | (lengths[:, 0] <= model.source.context)) & (lengths[:, 1] <= model.context)
    if not fits.any():
        raise DataError(f"{name}: all pairs are longer than model.source.context = {model.source.context} or "
                        f"model.context = {model.context} tokens. Set larger ones.")
    if fits.all():
        return pairs
    log.info(f"{int((~fits).sum()):,} of {len(fits):,} pairs are left out, being longer than model.source.context = "
             f"{model.source.context} or model.context = {model.context} tokens.")
    kept = np.flatnonzero(fits).tolist()
    return EncodedPairs([pairs.sources[n] for n in kept], [pairs.targets[n] for n in kept])
