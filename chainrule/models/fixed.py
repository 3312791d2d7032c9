"""Decoding in steps of one fixed shape: what a compiler or a CUDA graph can take as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.models.stack import Stack
from chainrule.parts.mixers.attention import Cache, FixedCache
from chainrule.parts.state import Reading, copy_into, pick


class FixedDecoder:
    """Writes texts of a batch of prompts with caches that are as long from the first token as they will ever be.

    The token, its place, all states and what has been written are tensors that a step changes in place, so a step has
    no inputs and no outputs: `torch.compile` sees one graph, and a CUDA graph is replayed once a token while the host
    waits for nothing. Attention looks at all of its cache at each step, so `room` should not be larger than needed.
    """

    def __init__(self, stack: Stack, batch: int, room: int):
        if stack.position.context is not None and room > stack.position.context:
            raise OptionError("FixedDecoder.room", room, f"at most the model's context {stack.position.context}")
        self.stack, self.batch, self.room = stack, batch, room
        device = stack.embedding.weight.device
        self.ids_B1 = torch.zeros(batch, 1, dtype=torch.long, device=device)
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        self.written_BT = torch.zeros(batch, room + 1, dtype=torch.long, device=device)
        self.states: list[Any] = [self._fixed(state) for state in stack.start(batch, room).sublayers]
        self._run: Callable[[], None] = self.step

    @torch.inference_mode()
    def write(self, prompts_BT: Tensor, count: int) -> Tensor:
        """(B, count): the likeliest continuation of each prompt, token by token; prompts begin with <s>."""
        length = prompts_BT.shape[1]
        if length + count - 1 > self.room:
            raise OptionError("FixedDecoder.write.count", count, f"at most {self.room - length + 1} in this room")
        self._read(prompts_BT)
        for _ in range(count - 1):
            self._run()
        return self.written_BT[:, length:length + count].clone()

    def step(self) -> None:
        """Reads the last token of each row, chooses the next, and moves on by one place."""
        stack, reading = self.stack, Reading(position=self.stack.position)
        x = stack.position.embed(stack.embedding(self.ids_B1), self.at)
        for layer, state in zip(stack.sublayers, self.states, strict=True):
            x, after = layer(x, state, reading)
            if not isinstance(state, FixedCache):
                copy_into(state, after)
        self._choose(stack.norm(x)[:, -1])

    def compiled(self, **options: Any) -> FixedDecoder:
        """The same, with steps that went through torch.compile."""
        self._run = torch.compile(self.step, fullgraph=True, dynamic=False, **options)
        return self

    def captured(self) -> FixedDecoder:
        """The same, with steps that are one CUDA graph; what was compiled before is captured as it is."""
        with torch.inference_mode():
            beside = torch.cuda.Stream()
            beside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(beside):
                for _ in range(3):  # kernels are chosen and memory is found before the capture
                    self.at.zero_()
                    self._run()
            torch.cuda.current_stream().wait_stream(beside)
            graph = torch.cuda.CUDAGraph()
            self.at.zero_()
            with torch.cuda.graph(graph):
                self._run()
        self._run = graph.replay
        return self

    def _read(self, prompts_BT: Tensor) -> None:
        """The prompts at once, into the caches."""
        hidden, after = self.stack(prompts_BT, self.stack.start(self.batch, prompts_BT.shape[1]))
        length = prompts_BT.shape[1]
        for state, new in zip(self.states, after.sublayers, strict=True):
            if isinstance(state, FixedCache):
                state.keys[:, :, :length] = new.keys[:, :, :length]
                state.values[:, :, :length] = new.values[:, :, :length]
            else:
                copy_into(state, new)
        self.at.fill_(length - 1)
        self._choose(hidden[:, -1])

    def _choose(self, hidden_BD: Tensor) -> None:
        self.ids_B1.copy_(self.stack.head(hidden_BD).argmax(-1, keepdim=True))
        self.at.add_(1)
        self.written_BT.index_copy_(1, self.at, self.ids_B1)

    def _fixed(self, state: Any) -> Any:
        if isinstance(state, Cache):
            return FixedCache(state.keys, state.values, self.at)
        return pick(state, torch.arange(self.batch, device=self.at.device))  # tensors of its own: they are written to
