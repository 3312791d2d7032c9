"""What is decided before the first training: recipes that are comparable, the split of the data, and one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chainrule.contests import Contest, Contested
from chainrule.errors import OptionError, UsageError
from chainrule.experiments.budget import parse_size
from chainrule.experiments.by_tokens import LOSSLESS
from chainrule.experiments.contestants import Contestant, check_recipes, check_shared, contestants, one_task
from chainrule.experiments.holdout import Source, of_single_lines, source, texts, unread_source
from chainrule.experiments.terms import (
    BASE,
    OWN,
    Terms,
    all_sized,
    applicable,
    chosen_tokenizer,
    reads_alike,
    shared_changes,
)
from chainrule.storage.json_text import json_text
from chainrule.text.corpora.corpus import Corpus
from chainrule.text.scripts import spaces_missed
from chainrule.training.plan import Budget


@dataclass(frozen=True)
class Comparison:
    """Everything that is decided before the first training."""

    entries: tuple[Contestant, ...]
    budget: Budget
    tokenizer: dict[str, Any] | None  # None where each has its own
    seeds: tuple[int, ...]
    source: Source
    train: Corpus
    held_out: Any  # a corpus, or what the contest is on
    documents: tuple[bytes, ...]  # of the held-out text
    notes: tuple[str, ...]
    grid: tuple[str, ...] = ()  # the options that --grid varies
    contest: Contest | None = None  # for tasks that are not compared by the text itself

    def held_out_words(self) -> str:
        """What every model is evaluated on: `42,864 bytes`."""
        if self.contest is not None:
            return f"the {self.contest.units} held out"
        return f"{sum(map(len, self.documents)):,} bytes"


def planned(words: Sequence[str], data: Any, budget: Budget, terms: Terms) -> Comparison:
    """Reads recipes and text, and makes the recipes comparable."""
    return planned_of(contestants(words, terms.grid, own_tokenizers=True), data, budget, terms)


def planned_of(entries: Sequence[Contestant], data: Any, budget: Budget, terms: Terms) -> Comparison:
    """The same of contestants that are known."""
    if terms.seeds < 1:
        raise OptionError("--seeds", terms.seeds, "at least 1")
    params = None if terms.params in (None, BASE) else parse_size("--params", terms.params)
    own = terms.tokenizer == OWN
    plain = [each.resolved(applicable(each, terms.changes)) for each in entries]
    task = one_task(plain)
    contested = isinstance(task, Contested)
    if not own and not contested:
        check_shared(entries)  # refuses a tokenizer for one recipe alone
    _check_changes(entries, terms)
    check_recipes(plain)
    like = reads_alike(plain)
    if not contested and (terms.target is not None or terms.valid_target is not None):
        raise UsageError(f"--target = {terms.target or terms.valid_target}: these models are compared on text alone, "
                         "which has no targets. Leave it out.")
    if contested:
        return planned_contest(Asked(entries, plain, task, like), data, budget, terms)
    where, notes = source(data, terms.valid, like.text, like.split.valid, like.split.seed)
    train, held_out = where.halves()
    documents = texts(held_out)
    notes += [sentence for sentence in [of_single_lines(held_out)] if sentence]
    tokenizer, note = (None, None) if own else chosen_tokenizer(terms.tokenizer, _size(train))
    split = where.fraction if terms.valid is None else 0.0
    resolved = []
    for each in entries:
        found = each.resolved([*shared_changes(each, terms, budget, tokenizer), f"split.valid={split!r}"])
        resolved.append(found)
    if terms.params is not None:
        resolved, sentences = all_sized(resolved, params, train)
        notes += sentences
    used = dict.fromkeys(each.recipe.tokenizer["name"] for each in resolved if each.recipe)
    notes += [f"{missed} --tokenizer {LOSSLESS} does not." for name in used if (missed := spaces_missed(name, train))]
    return Comparison(tuple(resolved), budget, tokenizer, tuple(range(terms.seeds)), where, train, held_out,
                tuple(documents), tuple([*notes, note] if note else notes), grid=tuple(terms.grid))


@dataclass(frozen=True)
class Asked:
    """What the command names: recipes, as they are and resolved, their task, and the first of them."""

    entries: Sequence[Contestant]
    plain: Sequence[Contestant]
    task: Contested
    like: Any


def planned_contest(asked: Asked, data: Any, budget: Budget, terms: Terms) -> Comparison:
    """The same for a task that has a measure of its own: each recipe has its own tokenizer, unless one is named."""
    task = asked.task
    if terms.params is not None:
        raise UsageError(f"--params = {terms.params}: models of this task are as large as their recipes say, since "
                         "their size depends on the data. Change model.width.")
    tokenizer, _ = (None, None) if terms.tokenizer in (None, OWN) else chosen_tokenizer(terms.tokenizer, 0)
    like = _reading_alike(asked, [] if tokenizer is None else [f"tokenizer={json_text(tokenizer)}"], terms)
    where = unread_source(data, terms, like)
    contest = task.contest(like, where.data, where.valid, fraction=where.fraction, seed=where.seed,
                           targets=(where.target, where.valid_target))
    resolved = [each.resolved([*shared_changes(each, terms, budget, tokenizer), f"split.valid={contest.split!r}"])
                for each in asked.entries]
    return Comparison(tuple(resolved), budget, tokenizer, tuple(range(terms.seeds)), where, contest.train,
                      contest.held_out, (), tuple(contest.notes), grid=tuple(terms.grid), contest=contest)


def _reading_alike(asked: Asked, shared: Sequence[str], terms: Terms) -> Any:
    """The first recipe with what all share; one that reads the data in another way is refused."""
    read = [each.resolved([*applicable(each, terms.changes), *shared]) for each in asked.entries] if shared else (
        asked.plain)
    like = read[0].recipe or asked.like
    first = asked.task.reading(like)
    for each in read:
        own = first if each.recipe is None else asked.task.reading(each.recipe)
        if own != first:
            raise UsageError(f"{each.name} reads the data in another way than {read[0].name}{_differing(own, first)}, "
                             "expected the same for all. Set it for all with --change.")
    return like


def _differing(own: Any, first: Any) -> str:
    """Which options differ, where the task names them."""
    if not isinstance(own, Mapping) or not isinstance(first, Mapping):
        return ""
    names = [name for name in {**first, **own} if own.get(name) != first.get(name)]
    return f" ({', '.join(f'{name} = {_short(own.get(name))} and {_short(first.get(name))}' for name in names)})"


def _short(value: Any) -> str:
    """An option in one line: of a part, what it is called and what is said of it."""
    if isinstance(value, Mapping):
        return ", ".join(str(each) if name == "name" else f"{name} {each}" for name, each in value.items()
                         if each is not None)
    return repr(value)


def _check_changes(entries: Sequence[Contestant], terms: Terms) -> None:
    """A change that no recipe has an option for is an error."""
    for change in terms.changes:
        if not any(applicable(each, [change]) for each in entries):
            each = entries[0].resolved([change])  # finds out what is wrong with it
            raise UsageError(f"--change {change}: {each.problem or 'no recipe has such an option.'}")


def _size(corpus: Corpus) -> int:
    return sum(len(chunk.data) for chunk in corpus.chunks())


def plan_of(comparison: Comparison) -> dict[str, Any]:
    """What identifies the comparison when it is continued."""
    return {"budget": asdict(comparison.budget), "tokenizer": comparison.tokenizer or OWN,
            "seeds": list(comparison.seeds),
            "data": comparison.train.fingerprint()[:16], "held out": comparison.held_out.fingerprint()[:16],
            "recipes": {each.name: each.recipe and each.recipe.model_dump(mode="json") for each in comparison.entries}}
