"""The counting family: n-gram models of order 1 to 24 over any tokenizer, with any smoothing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chainrule.counting.count import count, count_in_pieces
from chainrule.counting.counts import Counts
from chainrule.counting.estimate import Marks, estimate
from chainrule.counting.index_check import check_table
from chainrule.counting.model import NGram
from chainrule.counting.scratch import Scratch
from chainrule.counting.sound import unsound
from chainrule.counting.table import Table
from chainrule.errors import ChainruleError, OptionError
from chainrule.families.mixture import MEMBERS, MixtureFamily
from chainrule.jobs import Job, Trained
from chainrule.protocols import Family, Tokenizer
from chainrule.recipe.choices import PartOf
from chainrule.recipe.recipe import Recipe
from chainrule.recipe.registry import build, part
from chainrule.recipe.schema import Size
from chainrule.starting import Start
from chainrule.storage.tensors import open_tensors, save_tensors
from chainrule.text.encoded import Encoded, encode, fit_and_encode

WEIGHTS = "model.safetensors"
PROGRAM = 200 << 20  # bytes that Python and the kernels take before any counting
ROUNDING = 0.01  # by which sums of probabilities may differ from 1, numbers of 16 bits included
LEAST = PROGRAM + (100 << 20)
POSITIONS = 1 << 31  # tokens that the counting kernel can number; more are counted in pieces
log = logging.getLogger("chainrule")


@part
class NGramFamily(Family):
    """n-gram models: count, smooth, look up."""

    changeable = ("model", "tokenizer.min_count", "tokenizer.size")

    class Options(BaseModel):
        """What a recipe's `model` section may say."""

        model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

        order: int = Field(default=5, ge=1, le=24)
        smoothing: Annotated[dict[str, Any], PartOf("counting/smoothing")] = {"name": "modified_kneser_ney"}
        prune: list[int] = [0]  # for each order: n-grams that occur at most this often are left out; the last repeats
        prune_entropy: float = Field(default=0.0, ge=0.0)  # Stolcke's threshold, such as 1e-8; 0 keeps all
        vocabulary: Literal["auto", "open", "closed"] = "auto"  # open: <unk> has a probability
        memory: Size = 1536 << 20  # bytes; larger texts are counted in pieces on the disk
        compact: bool = False  # 16 bits for each number
        keep_counts: bool = False  # so that training can go on exactly, with more text

        @field_validator("prune")
        @classmethod
        def limits_grow(cls, prune: list[int]) -> list[int]:
            """A longer n-gram may not outlive a shorter one that it contains."""
            if prune and (prune[0] != 0 or prune != sorted(prune)):
                raise ValueError("limits that begin with 0 and never fall, such as [0, 0, 1]; "
                                 "rare words are left out with tokenizer.min_count")
            return prune

    @classmethod
    def check_start(cls, recipe: Any, start: Start) -> None:
        from chainrule.families._kept_counts import check_counts_of

        check_counts_of(recipe, start)

    @classmethod
    def train(cls, job: Job) -> Trained:
        from chainrule.families import _interpolated, _kept_counts

        options: Any = job.recipe.model
        if job.start is not None and not _kept_counts.has_counts(job.start):
            return _interpolated.trained(job, job.start)
        if job.start is not None or options.keep_counts:
            return _kept_counts.trained(job)
        text = job.recipe.text
        assert job.corpus is not None
        with job.timed("reading"):
            tokenizer, encoded = fit_and_encode(job.corpus, build("text/tokenizers", job.recipe.tokenizer), text)
            held_out = None if job.valid is None else encode(job.valid, tokenizer, text).ids
        with job.timed("counting"):
            counts, scratch = counted(encoded, tokenizer, options, job.folder)
        facts = {"units": encoded.units, "bytes": int(encoded.bytes.sum())}
        trained = from_counts(job, counts, tokenizer, scratch, held_out)
        return Trained(tokenizer, trained.model, trained.write, trained.report | facts)

    @classmethod
    def load(cls, folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> Any:
        if (folder / MEMBERS).is_dir():
            return MixtureFamily.load(folder, recipe, tokenizer)
        tensors = open_tensors(folder / WEIGHTS)
        check_table(folder / WEIGHTS, tensors, tokenizer.vocabulary_size)
        return NGram(Table.from_tensors(tensors, tokenizer.start, tokenizer.end, tokenizer.unknown))

    @classmethod
    def write(cls, folder: Path, run: Any) -> None:
        if not hasattr(run.model, "table"):
            return MixtureFamily.write(folder, run)
        from chainrule.families._kept_counts import copy_counts

        check_sound(run.model.table, run.tokenizer, "the model", "Nothing was saved.")
        save_tensors(folder / WEIGHTS, run.model.table.tensors())
        copy_counts(run, folder)
        return None


def counted(encoded: Encoded, tokenizer: Any, options: Any, folder: Path) -> tuple[Counts, Scratch]:
    """The counts of an encoded text, in as much memory as the options allow, and the scratch for further work."""
    scratch, piece = _room(len(encoded.ids) + encoded.units, options, folder)
    how = {"start": tokenizer.start, "end": tokenizer.end}
    if piece is None:
        return count(encoded.ids, options.order, tokenizer.vocabulary_size, **how), scratch
    return count_in_pieces(encoded.ids, options.order, tokenizer.vocabulary_size, **how,
                           piece=piece, scratch=scratch), scratch


def from_counts(job: Job, counts: Counts, tokenizer: Any, scratch: Scratch, held_out: np.ndarray | None) -> Trained:
    """A model from counts, wherever they were counted."""
    options = job.recipe.model
    method = build("counting/smoothing", options.smoothing)
    is_open = options.vocabulary == "open" or (options.vocabulary == "auto" and tokenizer.unknown is not None)
    marks = Marks(tokenizer.start, tokenizer.end, tokenizer.unknown, predicts_unknown=is_open)
    with job.timed("smoothing"), np.errstate(over="ignore", invalid="ignore"):  # what comes of it is checked below
        table = estimate(counts, method, marks, prune=options.prune, scratch=scratch, held_out=held_out, say=log.info)
    if options.prune_entropy:
        from chainrule.counting.entropy_pruning import prune_by_entropy

        with job.timed("pruning"):
            table = prune_by_entropy(table, options.prune_entropy, scratch)
    if options.compact:
        table = table.compact()
    check_sound(table, tokenizer, f"model.smoothing = {options.smoothing}",
                "Nothing was saved. Try other options of this method, or another one.", scratch)
    report = {"vocabulary": tokenizer.vocabulary_size, "order": options.order,
              "tokens": counts.tokens, "ngrams": [len(level) for level in table.levels], "smoothing": method.learned}

    def write(folder: Path) -> None:
        with job.timed("saving"):
            save_tensors(folder / WEIGHTS, table.tensors())

    return Trained(tokenizer, NGram(table), write, report)


def check_sound(table: Table, tokenizer: Any, where: str, hint: str, scratch: Scratch | None = None) -> None:
    """Refuses a table with numbers that are not finite, or probabilities that do not sum to 1."""
    problem = unsound(table, tokenizer.token, least=1 - ROUNDING, most=1 + ROUNDING, scratch=scratch)
    if problem:
        raise ChainruleError(f"{where}: {problem}. {hint}")


def _room(tokens: int, options: Any, folder: Path) -> tuple[Scratch, int | None]:
    """Arrays in memory if all fits; otherwise in files, and the size of the pieces that are counted one by one."""
    piece = min(max((_limit(options) - PROGRAM) // 160, 100_000), POSITIONS // 2)
    scratch = scratch_for(tokens, options, folder, how=f"counting in pieces of {piece:,} tokens")
    return scratch, None if scratch.limit is None else piece


def scratch_for(tokens: int, options: Any, folder: Path, *, how: str) -> Scratch:
    """Where to count so many tokens, or to merge their counts: in memory if all fits, otherwise in files."""
    if options.memory < LEAST:
        raise OptionError("model.memory", f"{options.memory >> 20}M", f"at least {LEAST >> 20}M",
                          f"Python and the kernels themselves take {PROGRAM >> 20}M.")
    need = PROGRAM + tokens * (20 + 15 * (options.order - 1))  # measured: 79 bytes a token for order 5
    if need <= options.memory and tokens < POSITIONS:
        return Scratch()
    log.info(f"{tokens:,} tokens need about {need >> 20:,} MB, model.memory allows {options.memory >> 20:,} MB: "
             f"{how} on the disk.")
    return Scratch(_limit(options), folder)


def _limit(options: Any) -> int:
    """The size at which arrays are dropped from memory: some way below the process's limit."""
    return max(int(options.memory * 0.8), PROGRAM + (64 << 20))
