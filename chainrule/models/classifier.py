"""A stack that pools what it reads into one vector, as a classifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from chainrule.errors import OptionError
from chainrule.evaluation.calibration import tempered
from chainrule.models.attribution import Share, gradient_times_input, words_of_tokens
from chainrule.models.stack import Stack

AT_ONCE = 1 << 15  # inputs of a batch, padding included


class NeuralClassifier:
    """p(label | input) = softmax(head(pool(stack(input))) / τ), or σ of each label where an input may have several.

    τ is the temperature that was fitted on validation data: 1 without any.
    """

    def __init__(self, stack: Stack, known: Any, modality: Any):
        self.stack, self.known, self.modality = stack.eval(), known, modality
        self.labels: Sequence[str] = list(known.facts.get("labels", ["0", "1"]))
        self.temperature = float(known.facts.get("temperature") or 1.0)

    def probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(inputs, labels)."""
        return np.exp(self.log_probabilities(texts))

    def log_probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(inputs, labels): ln p."""
        found = self.log_p_of(self.encoded(texts))
        return found if self.temperature == 1.0 else tempered(found, self.temperature)

    def encoded(self, texts: Sequence[str | bytes]) -> list[np.ndarray]:
        """Inputs as the network reads them."""
        values = [each.encode(errors="replace") if isinstance(each, str) else each for each in texts]
        return self.modality.encode(values, self.known.tokenizer, self.known.facts.get("inputs", {}),
                                    self.stack.shape.context)

    @torch.inference_mode()
    def log_p_of(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """(inputs, labels): ln p of encoded inputs, without the temperature."""
        self.stack.eval()
        found = np.zeros((len(arrays), len(self.labels)), np.float32)
        for numbers in by_length([len(each) for each in arrays]):
            inputs, lengths = self.sent([arrays[n] for n in numbers])
            found[numbers] = self.stack.head.log_probs(self.stack.summary(inputs, lengths)).float().cpu().numpy()
        return found

    @torch.inference_mode()
    def log_p_of_example(self) -> np.ndarray:
        """(1, labels): ln p of an input of the right shape, all zeros, to see whether the network gives numbers."""
        inputs, _ = self.stack.eval().example(1, 1, self.stack.device)
        given = inputs.to(self.stack.dtype) if inputs.is_floating_point() else inputs
        return self.stack.head.log_probs(self.stack.summary(given)).float().cpu().numpy()

    def sent(self, arrays: Sequence[np.ndarray]) -> tuple[Any, Any]:
        """A batch where the network computes."""
        inputs, lengths = self.modality.batch(arrays, self.known.facts.get("inputs", {}), None)
        device = self.stack.device
        return torch.from_numpy(inputs).to(device), None if lengths is None else torch.from_numpy(lengths).to(device)

    evidence_is = "gradient × input"

    def evidence(self, text: bytes, label: str, other: str) -> list[tuple[Share, float]] | None:
        """Each token of a text with its share of ln p(label) − ln p(other), to first order; None for other inputs."""
        if self.modality.endings or self.known.tokenizer is None:
            return None
        spelled = text.decode(errors="replace")
        tokens = words_of_tokens(spelled, self.known.tokenizer)
        array = self.encoded([text])[0]
        if tokens is None or len(array) != len(tokens) + 2:  # too long for the context, or not made of words
            return None
        inputs, lengths = self.sent([array])
        shares = gradient_times_input(self.stack, inputs, lengths, self.labels.index(label), self.labels.index(other))
        last = len(spelled.split())
        names = [("<s>", last), *tokens, ("</s>", last)]
        return [(Share("token", name, (word,)), float(share) / self.temperature)
                for (name, word), share in zip(names, shares, strict=True)]

    def predict(self, texts: Sequence[str | bytes], *, top: int = 1, threshold: float = 0.0
                ) -> list[list[tuple[str, float]]]:
        """For each input its `top` likeliest labels and their probabilities, likeliest first; none below a threshold.
        """
        if isinstance(texts, str | bytes):
            texts = [texts]
        if top < 1:
            raise OptionError("top", top, "at least 1")
        logs = self.log_probabilities(texts)
        best = np.argsort(-logs, axis=1, kind="stable")[:, :top]
        return [[(self.labels[c], float(np.exp(own[c]))) for c in row if np.exp(own[c]) >= threshold]
                for own, row in zip(logs, best.tolist(), strict=True)]


def by_length(lengths: Sequence[int], at_once: int = AT_ONCE) -> Iterator[np.ndarray]:
    """The numbers of inputs in batches of like length, of at most `at_once` inputs, padding included."""
    order = np.argsort(lengths, kind="stable")
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * int(lengths[order[end]]) <= at_once:
            end += 1
        yield order[begin:end]
        begin = end
