"""Transcription by CTC: every frame says a token or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from chainrule.errors import DataError, OptionError
from chainrule.inputs.arrays import padded
from chainrule.models.sizes import Sizes
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import build, find
from chainrule.tasks._batch import IGNORED, Batch
from chainrule.tasks._examples import Encoded
from chainrule.tasks._pairs import EncodedPairs, PairKnown, PairsRead
from chainrule.tasks._rows import RowBatches


class ByCTC:
    """A network that reads the frames both ways, and a head that sums all ways to say the text in them."""

    causal = False
    longest = "model.context"  # frames that are read at once

    def __init__(self, inputs: Choice):
        self.modality = build("inputs/modalities", inputs)

    def check(self, model: Any) -> None:
        """Refuses a recipe whose head needs a token for each frame."""
        if not hasattr(find("parts/heads", model.head["name"]), "search"):
            raise OptionError("model.head", model.head["name"], "ctc", "Other heads need a token for each frame; a "
                              "decoder that writes token by token is task.by=attention.")
        if model.source is not None:
            raise OptionError("model.source", "a stack", "none with task.by=ctc", "An encoder and a decoder are "
                              "task.by=attention.")

    def context(self, model: Any) -> int:
        return model.context

    def sizes(self, vocabulary: int, facts: Mapping[str, Any] | None) -> Sizes:
        """The blank is an output more than there are tokens."""
        _, features = self.modality.sizes(0, (facts or {}).get("inputs", {}))
        return Sizes(0, vocabulary + 1, features)

    def training_data(self, read: PairsRead, network: Any, plan: Any, say: Any) -> RowBatches:
        facts = read.known.facts["inputs"]
        self._say_short(read.train, network, say)
        train, valid = (None if each is None else Encoded(each.sources, each.targets, _ids).examples(
            self.modality, facts, plan.seed) for each in (read.train, read.valid))
        assert train is not None
        return RowBatches(read.known, train, valid, plan)

    def _say_short(self, pairs: EncodedPairs, network: Any, say: Any) -> None:
        """Counts recordings whose frames are too few to say their text, which teach nothing."""
        import torch

        vectors = network.lengths(torch.from_numpy(pairs.lengths[:, 0])).numpy()
        needed = np.array([len(ids) + int((ids[1:] == ids[:-1]).sum()) for ids in pairs.targets])
        short = int((vectors < needed).sum())
        if not short:
            return
        said = (f"{short:,} of {len(needed):,} recordings have fewer vectors than their texts have tokens, so that CTC "
                "learns nothing from them")
        advice = "Try a smaller model.embedding.subsampling, or a tokenizer with longer tokens."
        if short == len(needed):
            raise DataError(f"{said}. {advice}")
        say(f"{said}. {advice}")

    def loss(self, network: Any, batch: Batch, *, smoothing: float = 0.0) -> tuple[Any, int, Any]:
        hidden, lengths = _read(network, batch)
        return network.head.loss(hidden, batch.targets, smoothing=smoothing, lengths=lengths), batch.count, None

    def validate(self, network: Any, batches: Iterator[Batch]) -> dict[str, float]:
        """The loss of each token, and the errors of the best path for each: of words where tokens are words."""
        from chainrule.evaluation.edits import edits

        total, count, errors, tokens = 0.0, 0, 0, 0
        for batch in batches:
            hidden, lengths = _read(network, batch)
            losses, wanted = network.head.losses(hidden, batch.targets, lengths), batch.targets.cpu().numpy()
            fits = losses.isfinite()
            total += float(losses[fits].sum())
            count += int((batch.targets[fits] != IGNORED).sum())
            for own, said in zip(wanted, network.head.decode(hidden, lengths), strict=True):
                found = edits(own[own != IGNORED].tolist(), said.tolist())
                errors, tokens = errors + found.errors, tokens + found.items
        return {"loss": total / max(count, 1), "token_error_rate": errors / tokens} if tokens else {}

    def model(self, network: Any, known: PairKnown) -> Any:
        from chainrule.models.transcriber import CTCTranscriber

        return CTCTranscriber(network, known, self.modality)


def _read(network: Any, batch: Batch) -> tuple[Any, Any]:
    """Hidden states of the frames, and how many of each row are real."""
    from chainrule.parts.reading import Reading

    hidden, _ = network(batch.inputs, None, Reading(network.shape.causal, lengths=batch.lengths))
    return hidden, None if batch.lengths is None else network.lengths(batch.lengths)


def _ids(wanted: Any) -> np.ndarray:
    return padded(wanted, IGNORED)
