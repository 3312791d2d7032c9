"""The one decode loop, step by step: any language model, any strategy, any filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainrule.arrays import host_as_numpy, sent, to_numpy
from chainrule.errors import OptionError
from chainrule.generation.ahead import AHEAD, WritingAhead
from chainrule.generation.choosing import Chooses, Choosing, Extension, Filter, Strategy, filtered
from chainrule.generation.rows import Draft, Marks, Rows
from chainrule.protocols import Array, HasSources, Joins, LanguageModel, ReadsAtOnce, WritesAhead

Stops = Callable[[np.ndarray, int], bool]  # given the ids of a row and how many were the prompt's: is it complete?


@dataclass(frozen=True)
class Written:
    """What a step added to a text: tokens, and why it ended if it did."""

    number: int
    ids: tuple[int, ...]
    reason: str


@dataclass(eq=False)
class Running:
    """Rows that are written together: row i of the state has read the i-th."""

    rows: Rows
    state: Any
    ahead: WritingAhead | None = None  # while the model itself chooses tokens, several at a time


@dataclass(eq=False)
class Decoder:
    """Writes texts token by token: `add` prompts, `step` until no row is live, `remove` rows that are not needed.

    Rows may be added and removed between any two steps; what one row writes never depends on the others.
    """

    model: LanguageModel
    strategy: Strategy
    marks: Marks
    filters: Sequence[Filter] = ()
    stops: Stops | None = None
    done: list[Draft] = field(default_factory=list)
    _running: list[Running] = field(default_factory=list)

    @property
    def live(self) -> int:
        """Rows that are being written."""
        return sum(len(each.rows) for each in self._running)

    def add(self, prompts: Sequence[Any], max_tokens: int, numbers: Sequence[int] | None = None) -> list[int]:
        """Adds prompts (arrays of ids) and returns their numbers, with which `results` is called.

        The random numbers of a sample depend on its number: the same number, seed and prompt give the same text.
        """
        if max_tokens < 1:
            raise OptionError("max_tokens", max_tokens, "at least 1")
        known = [*(int(each.rows.numbers.max()) for each in self._running), *(draft.number for draft in self.done)]
        given = list(range(len(prompts))) if numbers is None else list(numbers)
        given = given if numbers is not None else [1 + max(known, default=-1) + number for number in given]
        ids = [np.asarray(each, np.int32).reshape(-1) for each in prompts]
        for length in dict.fromkeys(map(len, ids)):  # equally long ones are read side by side
            which = [n for n, each in enumerate(ids) if len(each) == length]
            rows = Rows.begun([ids[n] for n in which], [given[n] for n in which], max_tokens, self.marks.start)
            self._join(Running(rows, _read(self.model, rows)))
        return given

    def step(self, tokens: int = 1) -> list[Written]:
        """One token for each live row; a model that can write ahead writes up to `tokens`."""
        found: list[Written] = []
        for each in self._running:
            found += self._several(each, min(tokens, AHEAD)) if self._writes_ahead(tokens) else self._one(each)
        self._running = [each for each in self._running if len(each.rows)]
        return found

    def remove(self, numbers: Sequence[int]) -> None:
        """Stops writing some texts; they leave no result."""
        for each in self._running:
            kept = np.flatnonzero(~np.isin(each.rows.numbers, list(numbers)))
            if len(kept) < len(each.rows):
                self._settle(each)
                each.rows, each.state = each.rows.taken(kept), self.model.pick(each.state, kept)
        self._running = [each for each in self._running if len(each.rows)]

    def results(self, number: int) -> list[Draft]:
        """The finished texts of a prompt, best first."""
        return self.strategy.rank([draft for draft in self.done if draft.number == number])

    def _join(self, new: Running) -> None:
        """Joins new rows to the batch; if the model cannot join rows, they form a batch of their own."""
        if self._running and isinstance(self.model, Joins):
            old = self._running.pop()
            self._settle(old)
            new = Running(Rows.joined([old.rows, new.rows], self.marks.start), self.model.join([old.state, new.state]))
        if len(new.rows):
            self._running.append(new)

    def _one(self, each: Running) -> list[Written]:
        """One token for each row, chosen on the host."""
        self._settle(each)
        model_BV = host_as_numpy(self.model.log_probs(each.state))
        log_p_BV = filtered(model_BV, sent(each.rows.seen(), model_BV), self.marks, self.filters)
        step = self.strategy.extend(each.rows, log_p_BV)
        longer = self._longer(each.rows, step, model_BV)
        reasons = [self._reason(longer.ids[row, :longer.lengths[row]], int(longer.read[row]))
                   for row in range(len(longer))]
        live, self.done = self.strategy.sift(longer, reasons, self.done)
        spent = live[longer.left[live] < 1]
        self.done += [longer.draft(row, "length") for row in spent.tolist()]
        live = live if not len(spent) else live[longer.left[live] >= 1]
        self._go_on(each, longer, live, step.parents)
        ended = np.array(reasons, object)
        ended[spent] = "length"
        return [Written(number, (id,), reason) for number, id, reason in zip(
            longer.numbers.tolist(), step.ids.tolist(), ended.tolist(), strict=True)]

    def _longer(self, rows: Rows, step: Extension, model_BV: Array) -> Rows:
        """The candidates as rows; a row that nothing can follow is done."""
        whole = len(step.parents) == len(rows) and bool((step.parents == np.arange(len(rows))).all())
        stuck = [] if whole else np.setdiff1d(np.arange(len(rows)), step.parents).tolist()
        self.done += [rows.draft(row, "stuck") for row in stuck]
        own = to_numpy(model_BV[sent(step.parents, model_BV), sent(step.ids, model_BV)])
        return (rows if whole else rows.taken(step.parents)).followed_by(step.ids, step.log_p, own, self.marks.start)

    def _go_on(self, each: Running, longer: Rows, live: np.ndarray, parents: np.ndarray) -> None:
        """The model reads the last token of the rows that live on; rows move where some ended or beams crossed."""
        before = len(each.rows)
        each.rows = longer if len(live) == len(longer) and (np.diff(live) > 0).all() else longer.taken(live)
        if not len(live):
            return
        came = parents[live]
        if len(came) != before or bool((came != np.arange(before)).any()):
            each.state = self.model.pick(each.state, came)
        each.state = self.model.advance(each.state, each.rows.last())

    def _reason(self, ids: np.ndarray, read: int) -> str:
        """Why a text ends with its last token, if it does."""
        if ids[-1] == self.marks.end:
            return "end"
        return "stop" if self.stops and self.stops(ids, read) else ""

    def _writes_ahead(self, tokens: int) -> bool:
        return tokens > 1 and isinstance(self.model, WritesAhead) and isinstance(self.strategy, Chooses)

    def _several(self, each: Running, tokens: int) -> list[Written]:
        """Several tokens for each row, chosen on the model's device; tokens after an end are dropped."""
        if each.ahead is None:
            choosing = Choosing(self.strategy, tuple(self.filters), self.marks)  # type: ignore[arg-type]
            each.ahead = WritingAhead.begun(self.model, each.state, choosing, each.rows)
        if each.ahead is None or each.ahead.room < 1:
            return self._one(each)
        longer, taken, reasons, live = each.ahead.step(each.rows, tokens, self.stops)
        self.done += [longer.draft(row, reason) for row, reason in enumerate(reasons) if reason]
        each.rows = longer if len(live) == len(longer) else longer.taken(live)
        new = [tuple(longer.ids[row, longer.lengths[row] - count:longer.lengths[row]].tolist())
               for row, count in enumerate(taken)]
        return [Written(*row) for row in zip(longer.numbers.tolist(), new, reasons, strict=True)]

    def _settle(self, each: Running) -> None:
        """Back from writing ahead: the state as the model has it, of the rows that are live."""
        if each.ahead is not None:
            each.state, each.ahead = each.ahead.settled(), None


def _read(model: LanguageModel, rows: Rows) -> Any:
    """The model's state after prompts of one length; a prompt that occurs several times is read once.

    Rows with sources of their own are read each by itself: the number of a row is that of its source.
    """
    if isinstance(model, HasSources):
        state = model.begin(rows.numbers)
        for ids in rows.seen().T:
            state = model.advance(state, ids)
        return state
    prompts_BT, which = np.unique(rows.seen(), axis=0, return_inverse=True)
    if prompts_BT.shape[1] and isinstance(model, ReadsAtOnce):
        state = model.read(None, prompts_BT)
    else:
        state = model.start(len(prompts_BT))
        for ids in prompts_BT.T:
            state = model.advance(state, ids)
    same = len(prompts_BT) == len(rows) and bool((which == np.arange(len(rows))).all())
    return state if same else model.pick(state, which.reshape(-1))


def decode(model: LanguageModel, prompts: Sequence[Any], strategy: Strategy, *, marks: Marks, max_tokens: int,
           filters: Sequence[Filter] = (), stops: Stops | None = None, first: int = 0) -> list[list[Draft]]:
    """Continues each prompt until its end mark, a stop or `max_tokens`; for each, its drafts, best first.

    Prompts are numbered from `first`.
    """
    decoder = Decoder(model, strategy, marks, filters, stops)
    numbers = decoder.add(prompts, max_tokens, range(first, first + len(prompts)))
    while decoder.live:
        decoder.step(AHEAD)
    found: dict[int, list[Draft]] = {number: [] for number in numbers}
    for draft in decoder.done:
        found[draft.number].append(draft)
    return [strategy.rank(drafts) for drafts in found.values()]
