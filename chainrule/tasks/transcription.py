"""Transcription: a recording becomes the text that is spoken in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from chainrule.errors import DataError, OptionError
from chainrule.models.sizes import Sizes
from chainrule.protocols import Transcriber
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.task_protocols import Small
from chainrule.tasks._by_attention import ByAttention
from chainrule.tasks._by_ctc import ByCTC
from chainrule.tasks._pairs import EncodedPairs, PairKnown, PairsRead
from chainrule.tasks._task import Learned, OnRows, refuse_target

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.evaluation.options import Measuring
    from chainrule.inputs.labeled import Example
    from chainrule.jobs import Job
    from chainrule.tasks._batch import Batch
    from chainrule.tasks._rows import RowBatches

WAYS: dict[str, Any] = {"ctc": ByCTC, "attention": ByAttention}


@part
class Transcription(OnRows, Learned):
    """A recording becomes the text that is spoken in it.

    by ctc: −1/N Σ_n ln Σ_π p(π | recording_n), over all ways π in which its frames can say the text; by attention:
    −1/T Σ_t ln p(w_t | w_<t, recording), with an encoder, model.source, that reads the recording.

    Graves et al. 2006, "Connectionist temporal classification"; Chan et al. 2016, arXiv:1508.01211. `labels` is the
    column of a table that has the texts; the column `recording`, or text.field, has the paths.
    """

    ability = Transcriber
    kind = "transcriber"
    uses = ("transcribe {run} FILE.wav", "evaluate {run} --data TABLE", "inspect {run} FILE.wav")
    caution = "It writes what its training recordings taught it to hear; other voices and other noise it may mishear."
    causal = False
    view = "recordings"

    def __init__(self, *, labels: str | int = "text", by: Literal["ctc", "attention"] = "ctc",
                 inputs: Annotated[Choice, PartOf("inputs/modalities")] = "recordings"):
        self.labels, self.modality = str(labels), build("inputs/modalities", inputs)
        if not self.modality.endings:
            raise OptionError("task.inputs", self.modality.called, "recordings", "Texts are not transcribed.")
        self.way = WAYS[by](inputs)
        self.causal = self.way.causal  # type: ignore[misc]  # a decoder writes from left to right

    def open(self, data: Any, recipe: Any, target: Any = None) -> Any:
        from chainrule.inputs.files import open_files

        refuse_target(self, target)
        return data if hasattr(data, "fingerprint") else open_files(data, recipe, self.modality)

    def examples(self, corpus: Any, recipe: Any) -> list[Example]:
        """The recordings of a corpus, each with its text as its label."""
        from chainrule.inputs.labeled import labeled, layout_of

        return list(labeled(corpus, layout_of(recipe)))

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None = None) -> Sizes:
        return self.way.sizes(vocabulary, facts)

    def load_known(self, folder: Path | None, tokenizer: Any) -> PairKnown:
        found = super().load_known(folder, tokenizer)
        return PairKnown(tokenizer, found.sizes, found.facts)

    def small(self, folder: Path) -> Small:
        from chainrule.inputs.small_recordings import strings_of_tones

        strings = ["low high", "high", "middle low", "low", "middle high low", "high high"]
        return Small(strings_of_tones(folder / "strings", strings), recipe={"tokenizer": "words", "model": {
            "pattern": "r", "embedding": "frames", "head": "ctc", "context": 100}})

    def read(self, job: Job) -> PairsRead:
        self.way.check(job.recipe.model)
        train = self.examples(job.corpus, job.recipe)
        if not train:
            raise DataError(f"{job.corpus.name}: no {self.modality.plural} to train on.")
        tokenizer, _ = build("inputs/modalities", "text").learn([_text(each).encode() for each in train], job)
        _, own = self.modality.learn([each.text for each in train], job)
        facts = {"inputs": own}
        known = PairKnown(tokenizer, self.sizes(tokenizer.vocabulary_size, facts), facts)
        context = self.way.context(job.recipe.model)
        valid = None if job.valid is None else self._encoded(self.examples(job.valid, job.recipe), known, context)
        return PairsRead(known, self._encoded(train, known, context), valid)

    def _encoded(self, examples: Sequence[Example], known: PairKnown, context: int) -> EncodedPairs:
        from chainrule.inputs.texts import ids_of

        assert known.tokenizer is not None
        arrays = self.modality.encode([each.text for each in examples], None, known.facts["inputs"], 1 << 30)
        for each, own in zip(examples, arrays, strict=True):
            if len(own) > context:
                raise DataError(f"{each.source}: line {each.line}: a {self.modality.called} of {len(own):,} frames, "
                                f"expected at most {self.way.longest} = {context:,}. Set a larger one, or cut it.")
        return EncodedPairs(arrays, ids_of([_text(each).encode() for each in examples], known.tokenizer))

    def training_data(self, read: PairsRead, network: Any, plan: Any, say: Any) -> RowBatches:
        return self.way.training_data(read, network, plan, say)

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        return self.way.loss(network, batch, smoothing=smoothing)

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        return self.way.validate(network, batches)

    def rank(self, found: Mapping[str, float]) -> float:
        """Errors, where they are counted; of equally many the smaller loss."""
        return found.get("token_error_rate", 0.0) + (1e-6 if "token_error_rate" in found else 1.0) * found["loss"]

    def model(self, network: Any, known: PairKnown) -> Any:
        return self.way.model(network, known)

    def evaluate(self, run: Any, data: Any, how: Measuring) -> dict[str, Any]:
        from chainrule.evaluation.transcripts import transcript_figures

        corpus = self.open(data, run.recipe)
        held = self.examples(corpus, run.recipe)
        if not held:
            raise DataError(f"{corpus.name}: no {self.modality.plural} to measure on.")
        model = run.offering(Transcriber, "evaluate")
        found = model.transcribe([each.text for each in held], beams=how.beams or 1)
        return transcript_figures(held, [own[0][0] for own in found], how)

    def reading(self, recipe: Any) -> Any:
        return str(recipe.task["labels"]), recipe.text.field

    def contest(self, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, *, fraction: float, seed: int,
                targets: tuple[Any, Any] = (None, None)) -> Contest:
        """On transcribed recordings: `tasks._transcribed`."""
        from chainrule.tasks._transcribed import Transcribed

        refuse_target(self, targets[0] or targets[1])
        return Transcribed(self, recipe, data, valid, fraction, seed)


def _text(example: Example) -> str:
    """Its transcript, with one space between words."""
    return " ".join(example.labels[0].split())
