"""A stack as a model of piano rolls: p(roll) = Π_t Π_k p(key k at t | the frames before t)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arrays import to_numpy
from chainrule.inputs.music import KEYS
from chainrule.models.stack import Stack

FEATURES = KEYS + 1  # the keys of the frame before, and whether there is none
AT_ONCE = 1 << 14  # frames that are read together, padding included


def inputs_of(roll: np.ndarray) -> np.ndarray:
    """(T, 89): what is read to predict each frame of a roll (T, 88): the frame before it, and a mark at the beginning.
    """
    found = np.zeros((len(roll), FEATURES), np.float32)
    found[1:, :KEYS] = roll[:-1]
    found[:1, KEYS] = 1.0
    return found


class RollModel:
    """p(key k at t | frames before t) = σ(score_k), each key by itself.

    Boulanger-Lewandowski, Bengio & Vincent 2012, arXiv:1206.6392, §5, "RNN". A network with a bounded context reads a
    long piece in windows that overlap by a half, so stepping and reading at once agree.
    """

    def __init__(self, stack: Stack, known: Any):
        self.stack, self.known = stack.eval(), known
        self.window = stack.shape.context if stack.bounded else None

    @property
    def stride(self) -> int:
        """By how much the window moves on when it is full."""
        assert self.window is not None
        return max(1, self.window // 2)

    @torch.inference_mode()
    def scores_of(self, rolls: Sequence[np.ndarray]) -> list[np.ndarray]:
        """(T, 88) of each roll (T, 88): ln p / (1 − p) of every key, given the frames before."""
        found: list[np.ndarray] = [np.zeros((0, KEYS))] * len(rolls)
        order = sorted(range(len(rolls)), key=lambda n: len(rolls[n]))
        while order:
            rows = max(1, AT_ONCE // max(1, len(rolls[order[-1]])))
            some, order = order[-rows:], order[:-rows]
            padded = np.zeros((len(some), max(len(rolls[n]) for n in some), FEATURES), np.float32)
            for row, n in zip(padded, some, strict=True):
                row[:len(rolls[n])] = inputs_of(rolls[n])
            scores = to_numpy(self._scores(torch.from_numpy(padded).to(self.stack.device)))
            for own, n in zip(scores, some, strict=True):
                found[n] = own[:len(rolls[n])].astype(np.float64)
        return found

    def _scores(self, inputs: Tensor) -> Tensor:
        """(B, T, 88) of inputs (B, T, 89): in one go, or window by window."""
        time, window = inputs.shape[1], self.window
        if window is None or time <= window:
            return self.stack.head.scores(self.stack(inputs)[0]).float()
        keep, found, begin = window - self.stride, [self._scores(inputs[:, :window])], self.stride
        while begin + keep < time:
            found.append(self._scores(inputs[:, begin:begin + window])[:, keep:])
            begin += self.stride
        return torch.cat(found, dim=1)

    @torch.inference_mode()
    def continued(self, begin: np.ndarray, steps: int, seeds: Sequence[int | None], *, temperature: float = 1.0
                  ) -> tuple[np.ndarray, np.ndarray]:
        """(N, steps, 88) that follow a roll (T, 88), one for each seed, and ln p (N,) of each by the model itself.

        Frame by frame, the network's state carried on; of temperature 0, every key that is likelier than not.
        """
        draws = [np.random.default_rng(seed) for seed in seeds]
        frames = np.zeros((len(seeds), steps, KEYS), np.uint8)
        log_p_N = np.zeros(len(seeds))
        whole = np.concatenate([begin, np.zeros((1, KEYS), begin.dtype)])
        reader = _Reader(self, torch.from_numpy(np.repeat(inputs_of(whole)[None], len(seeds), axis=0)))
        for t in range(steps):
            score_NK = to_numpy(reader.scores).astype(np.float64)
            if temperature:
                chance = 1 / (1 + np.exp(-np.clip(score_NK / temperature, -500, 500)))
                frames[:, t] = np.stack([draw.random(KEYS) for draw in draws]) < chance
            else:
                frames[:, t] = score_NK > 0
            log_p_N -= nats_of(score_NK, frames[:, t]).sum(-1)
            if t < steps - 1:
                reader.read(torch.from_numpy(np.pad(frames[:, t], ((0, 0), (0, 1))).astype(np.float32)))
        return frames, log_p_N


class _Reader:
    """Rows of frames that are read one after the other; a full window's second half begins the next."""

    def __init__(self, model: RollModel, inputs: Tensor):
        self.model, self.state = model, None
        self.seen = inputs[:, :0]
        for frame in inputs.unbind(1) if model.window is None or inputs.shape[1] > model.window else []:
            self.read(frame)
        if not self.seen.shape[1]:
            self._begin(inputs)

    def read(self, frame: Tensor) -> None:
        """One more frame (N, 89) of each row."""
        own, window = frame[:, None], self.model.window
        if window is not None and self.seen.shape[1] >= window:
            self._begin(torch.cat([self.seen[:, self.model.stride:], own], dim=1))
            return
        stack: Any = self.model.stack
        if self.state is None:
            self.state = stack.start(len(frame), window or 1)
        self.seen = torch.cat([self.seen, own], dim=1) if window is not None else own
        hidden, self.state = stack(own.to(stack.device), self.state)
        self.scores = stack.head.scores(hidden[:, -1]).float()

    def _begin(self, inputs: Tensor) -> None:
        stack: Any = self.model.stack
        hidden, self.state = stack(inputs.to(stack.device), stack.start(len(inputs), inputs.shape[1]))
        self.seen, self.scores = inputs, stack.head.scores(hidden[:, -1]).float()


def nats_of(score: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """−ln p of each key being as it is: ln(1 + e^s) − s y."""
    return np.logaddexp(0.0, score) - score * roll
