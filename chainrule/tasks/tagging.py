"""Tagging: every word of a sentence gets a tag, such as its part of speech or the entity that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inputs.arrays import padded
from chainrule.inputs.tagged import Tagged, checked_column, tagged
from chainrule.models.sizes import Sizes
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, find, part
from chainrule.tagger_protocols import KnowsWords, Tagger
from chainrule.task_protocols import Small
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._examples import Encoded, ExamplesRead
from chainrule.tasks._known import Known
from chainrule.tasks._rows import Examples, RowBatches
from chainrule.tasks._task import Learned, OnRows, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.jobs import Job
    from chainrule.models.tagger import NeuralTagger

SMALL = """the DET
cat NOUN
sat VERB

the DET
old ADJ
dog NOUN
ran VERB
away ADV

cats NOUN
sleep VERB

"""


@dataclass(frozen=True)
class TaggedBatch(Batch):
    """With the names of the tags, which entities are read from."""

    tags: tuple[str, ...] = ()


@part
class Tagging(OnRows, Learned):
    """Every word of a sentence gets a tag: its part of speech, its features, the entity that it belongs to.

    −1/T Σ_t ln p(tag_t | words), of each word by itself or, by a head such as crf, of all tags of a sentence together.

    `column` is where the tags stand: upos, xpos or feats of CoNLL-U, or the number of a column from 1; auto is UPOS,
    and the last column of other files. `scheme` turns tags of entities into BIO or BIOES; null leaves them as they are,
    but for IOB1, which becomes BIO.
    """

    ability = Tagger
    kind = "tagger"
    uses = ('tag {run} "some words"', 'inspect {run} "some words"', "evaluate {run} --data FILE")
    view = "tags"
    caution = "It gives tags as its training data has them, with their mistakes; other kinds of text it tags worse."
    causal = False
    loss_per = "word"

    def __init__(self, *, column: str | int = "auto", scheme: Literal["bio", "bioes"] | None = None,
                 inputs: Annotated[Choice, PartOf("inputs/modalities")] = "words"):
        self.column, self.scheme, self.modality = checked_column(column), scheme, build("inputs/modalities", inputs)
        if not getattr(self.modality, "by_word", False):
            raise OptionError("task.inputs", inputs if isinstance(inputs, str) else inputs["name"], "words",
                              "A tagger gives a tag to each word.")

    def sentences(self, corpus: Any) -> list[Tagged]:
        """All sentences of a corpus, invalid tags of entities repaired."""
        from chainrule.evaluation.tagging import in_scheme

        found = list(tagged(corpus, self.column))
        if not found:
            raise DataError(f"{corpus.name}: no tagged sentences, expected a word and its tag a line and an empty line "
                            "after each sentence.")
        return in_scheme(found, self.scheme, name=corpus.name)

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        known = facts or {}
        tokens, features = self.modality.sizes(vocabulary, known.get("inputs", {}))
        return Sizes(tokens, len(known.get("tags", "ab")), features)

    def small(self, folder: Path) -> Small:
        (folder / "tagged.txt").write_text(SMALL * 4, encoding="utf-8")
        return Small(folder / "tagged.txt", recipe={"tokenizer": None, "model": {
            "embedding": "words_by_convolution", "head": "untied"}})

    def read(self, job: Job) -> ExamplesRead:
        _check_parts(job.recipe.model)
        train = self.sentences(job.corpus)
        tags = sorted({tag for each in train for tag in each.tags})
        self.check_scheme(tags)
        _, own = self.modality.learn([each.words for each in train], job)
        facts = {"tags": tags, "inputs": own}
        known, context = Known(None, self.sizes(0, facts), facts), job.recipe.model.context
        valid = None if job.valid is None else self._encoded(self.sentences(job.valid), known, context)
        return ExamplesRead(known, self._encoded(train, known, context), valid)

    def check_scheme(self, tags: Sequence[str]) -> None:
        """Refuses a scheme for tags that mark no entities."""
        from chainrule.evaluation.tagging import PLAIN, scheme_of

        if self.scheme is not None and scheme_of(tags) == PLAIN:
            raise OptionError("task.scheme", self.scheme, "null, since the tags mark no entities",
                              f"They are {', '.join(tags[:4])} …; entities have tags such as B-PER, I-PER and O.")

    def _encoded(self, sentences: Sequence[Tagged], known: Known, context: int) -> Encoded:
        """A sentence beyond the context becomes several; tags that training never had count for nothing."""
        from chainrule.models.tagger import in_pieces, say_long

        say_long([len(each.words) for each in sentences], context)
        number = {tag: n for n, tag in enumerate(known.facts["tags"])}
        words = [piece for each in sentences for piece in in_pieces(each.words, context)]
        wanted = [np.array([number.get(tag, IGNORED) for tag in piece], np.int64)
                  for each in sentences for piece in in_pieces(each.tags, context)]
        arrays = self.modality.encode(words, None, known.facts["inputs"], context)
        return Encoded(arrays, wanted, lambda some: padded(some, IGNORED))

    def training_data(self, read: ExamplesRead, network: Any, plan: Any, say: Any) -> RowBatches:
        facts, tags = read.known.facts["inputs"], tuple(read.known.facts["tags"])

        def named(encoded: Encoded) -> Examples:
            found = encoded.examples(self.modality, facts, plan.seed)

            def collate(numbers: np.ndarray, batch: int) -> TaggedBatch:
                own = found.collate(numbers, batch)
                return TaggedBatch(own.inputs, own.targets, own.count, lengths=own.lengths, tags=tags)

            return Examples(found.lengths, collate)

        return RowBatches(read.known, named(read.train), None if read.valid is None else named(read.valid), plan)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden = _hidden(network, batch)
        more = {"lengths": batch.lengths} if network.head.sequential else {}
        return network.head.loss(hidden, batch.targets, smoothing=smoothing, **more), batch.count, None

    def validate(self, network: Any, batches: Iterator[Any]) -> dict[str, float]:
        """Loss and accuracy of each word; F1 of entities where tags mark them."""
        from chainrule.evaluation.entities import entity_f1, f1_of
        from chainrule.evaluation.tagging import PLAIN, scheme_of

        total, count, right, scheme = 0.0, 0, 0, PLAIN
        entities = np.zeros(3)
        for batch in batches:
            hidden = _hidden(network, batch)
            more = {"lengths": batch.lengths} if network.head.sequential else {}
            total += float(network.head.loss(hidden, batch.targets, **more))
            count += batch.count
            given, wanted = network.head.decode(hidden, batch.lengths), batch.targets.cpu().numpy()
            true = [own[:len(ids)] for own, ids in zip(wanted, given, strict=True)]
            right += sum(int((ids == own).sum()) for ids, own in zip(given, true, strict=True))
            if (scheme := scheme_of(batch.tags)) != PLAIN:
                spelled, guessed = ([["O" if id == IGNORED else batch.tags[id] for id in ids] for ids in each]
                                    for each in (true, given))
                entities += entity_f1(spelled, guessed, scheme).counts.sum(axis=0)
        if not count:
            return {}
        found = {"loss": total / count, "accuracy": right / count}
        return found if scheme == PLAIN else {**found, "f1": float(f1_of(entities))}

    def rank(self, found: Mapping[str, float]) -> float:
        """F1 of entities, else accuracy; of equal ones the smaller loss."""
        return -found.get("f1", found["accuracy"]) + 1e-9 * found["loss"]

    def model(self, network: Any, known: Known) -> NeuralTagger:
        from chainrule.models.tagger import NeuralTagger

        return NeuralTagger(network, known, self.modality)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.evaluation.tagging import tag_figures, tags_of

        corpus = self.open(data, run.recipe)
        model = run.offering(Tagger, "evaluate")
        found = tags_of(model, self.sentences(corpus), corpus.name)
        return tag_figures(found, model.tags, model.knows if isinstance(model, KnowsWords) else None, how)

    def reading(self, recipe: Any) -> Any:
        return {"column": self.column, "scheme": self.scheme}

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On tagged sentences: `tasks._tagged_sentences`."""
        from chainrule.tasks._tagged_sentences import TaggedSentences

        refuse_target(self, targets[0] or targets[1])
        return TaggedSentences(self, recipe, data, valid, fraction, seed)


def _hidden(network: Any, batch: Batch) -> Any:
    from chainrule.parts.reading import Reading

    return network(batch.inputs, None, Reading(network.shape.causal, lengths=batch.lengths))[0]


def _check_parts(model: Any) -> None:
    """Refuses an embedding that reads tokens, and a head that does not choose one output for each word."""
    head: Any = find("parts/heads", model.head["name"])
    if not head.exclusive or head.looks_at_source or not getattr(head, "aligned", True):
        raise OptionError("model.head", model.head["name"], "untied, crf or another that chooses one tag for each word")
    if not hasattr(find("parts/embeddings", model.embedding["name"]), "example"):
        raise OptionError("model.embedding", model.embedding["name"], "words_by_convolution, words_by_lstm or others "
                          "that read words with their characters")
