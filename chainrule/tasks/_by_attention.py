"""Transcription by attention: an encoder reads the frames, a decoder writes the text and looks at them."""

from __future__ import annotations

from typing import Any

from chainrule.errors import OptionError
from chainrule.recipe.choices import Choice
from chainrule.tasks._pairs import PairKnown, SequenceToSequence


class ByAttention(SequenceToSequence):
    """Recordings as the sources, texts as the targets of an encoder and a decoder."""

    longest = "model.source.context"  # frames that are read at once

    def __init__(self, inputs: Choice):
        super().__init__(inputs=inputs)

    def check(self, model: Any) -> None:
        """Refuses a recipe without an encoder."""
        if model.source is None:
            raise OptionError("model.source", None, "a stack that reads the recording, such as {pattern: rr, "
                              "embedding: frames}", "Without one there is task.by=ctc.")

    def context(self, model: Any) -> int:
        return model.source.context

    def model(self, network: Any, known: PairKnown) -> Any:
        from chainrule.models.transcriber import AttentionTranscriber

        return AttentionTranscriber(super().model(network, known))
