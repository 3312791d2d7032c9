"""The report of a comparison: rows, pairs, notes and advice, as report.json, details.json and a page."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from chainrule.errors import ChainruleError
from chainrule.evaluation.resampling import FEW
from chainrule.experiments.advice import advice
from chainrule.experiments.by_tokens import Ranking, by_perplexity
from chainrule.experiments.by_tokens import notes as lossy_notes
from chainrule.experiments.compressors import compressed, unmeasurable
from chainrule.experiments.convergence import far_from_end
from chainrule.experiments.details import details
from chainrule.experiments.duplicates import duplicates, sentence
from chainrule.experiments.folder import BEST, DETAILS, PAGE, REPORT, point_to_best
from chainrule.experiments.grid import grid_of
from chainrule.experiments.holdout import piece, whole
from chainrule.experiments.losses import units
from chainrule.experiments.measuring import write
from chainrule.experiments.mixing import mixture
from chainrule.experiments.pairs import put_intervals
from chainrule.experiments.pictures import Report, write_pictures
from chainrule.experiments.running import Setting, Trial
from chainrule.experiments.standings import Standing, empty_row, off_budget, overfitted, standing
from chainrule.experiments.terms import looked_at
from chainrule.jobs import learns_from_validation
from chainrule.storage.environment import environment
from chainrule.storage.json_text import json_value
from chainrule.text.corpora.corpus import documents

if TYPE_CHECKING:
    from chainrule.experiments.planning import Comparison

log = logging.getLogger("chainrule")


def written(comparison: Comparison, trials: Mapping[str, Sequence[Trial]],
            outcomes: Mapping[str, Sequence[dict[str, Any]]], setting: Setting, command: str) -> dict[str, Any]:
    """Puts all results together, writes the files and returns the report."""
    made_of = piece(comparison.held_out)
    drawn = units(comparison.documents, made_of)
    if made_of == "block" and len(comparison.documents) < FEW:
        made_of = "passage"  # intervals come from smaller blocks
    models = [standing(each, trials.get(each.name, []), outcomes.get(each.name, []), setting, drawn)
              for each in comparison.entries]
    models.sort(key=lambda each: (each.row["bits_per_byte"] is None, not each.row["comparable"],
                                  each.row["bits_per_byte" if each.row["comparable"] else "perplexity"]))
    members = [each for each in models if each.losses]
    mixed, left_out = mixture(members, drawn)
    ranking = Ranking("bits_per_byte", members, put_intervals([*members, *([mixed] if mixed else [])], drawn)
                      ) if members else by_perplexity(models)
    by_bytes = ranking.by == "bits_per_byte"
    compressors, unmeasured = _compressors(comparison, setting) if by_bytes else ([], None)
    rows = [*(each.row for each in models), *compressors, *([mixed.row] if mixed else [])]
    twice = duplicates(comparison.train, comparison.documents)
    notes = [*comparison.notes, drawn.note if by_bytes else None, sentence(twice, int(drawn.bytes.sum()), made_of),
             left_out, unmeasured, *_notes(models, comparison), *lossy_notes(models, ranking)]
    best = ranking.best
    report = json_value({
        "format": 1, "command": command, "data": _data(comparison, made_of) | {"duplicates": twice},
        "budget": {"kind": comparison.budget.kind, "amount": comparison.budget.amount}, "seeds": comparison.seeds,
        "tokenizer": _tokenizer(comparison, ranking.members), "environment": environment(),
        "units": drawn.kind if by_bytes else "blocks",
        "notes": [note for note in notes if note], "advice": advice(rows, ranking),
        "ranked_by": ranking.by, "best": best["name"] if best else None, "rows": rows, "pairs": ranking.pairs})
    point_to_best(setting.out, best["run"] if best else None)
    shown = json_value(details(models, setting, comparison.train, comparison.documents))
    for part in ("text", "by_document"):
        shown[part]["piece"] = made_of
    shown["curves_on"] = f"the first {looked_at(comparison.budget):,} tokens of the held-out text"
    shown["grid"] = grid_of(comparison.entries, comparison.grid)
    write(setting.out / DETAILS, shown)
    write(setting.out / REPORT, report)
    _page(comparison, setting, report, shown)
    return Report(report)


def _compressors(comparison: Comparison, setting: Setting) -> tuple[list[dict[str, Any]], str | None]:
    """The rows of the compressors, cached if they were computed before for the same text, and which have no number."""
    path, key = setting.out / "trials" / "compressors.json", list(setting.fingerprints)
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if known.get("text") != key:
        known = {"text": key, "found": compressed(comparison.train, comparison.documents)}
        write(path, known)
    rows, unmeasured = [], unmeasurable(known["found"])
    for name, found in known["found"].items():
        if name in unmeasured:
            continue
        row = empty_row(name, "compressor", None)
        rows.append(row | {"bits_per_byte": found["bits_per_byte"], "alone": found["alone"],
                           "measured": row["measured"] | {"training_seconds": round(found["seconds"], 3)}})
    return rows, (f"{', '.join(unmeasured)}: left out, because training text and held-out text together compress to no "
                  "more bytes than the training text alone; so short a text says nothing about a compressor."
                  if unmeasured else None)


def _data(comparison: Comparison, made_of: str) -> dict[str, Any]:
    """`held_out_pieces` are whole documents, or passages, blocks or lines of longer ones, as `held_out_piece` says."""
    source = comparison.source
    text = [comparison.train, comparison.held_out] if source.valid else [whole(comparison.train)]
    return {"spec": list(source.data), "valid": source.valid and list(source.valid),
            "split": None if source.valid else {"valid": source.fraction, "seed": source.seed},
            "documents": sum(1 for each in text for _ in documents(each)),
            "train_bytes": sum(len(chunk.data) for chunk in comparison.train.chunks()),
            "held_out_bytes": sum(map(len, comparison.documents)), "held_out_pieces": len(comparison.documents),
            "held_out_piece": made_of}


def _tokenizer(comparison: Comparison, members: Sequence[Standing]) -> Any:
    if comparison.tokenizer is None:
        return "own"
    return comparison.tokenizer | ({"vocabulary": members[0].outcomes[0]["vocabulary"]} if members else {})


def _notes(models: Sequence[Standing], comparison: Comparison) -> list[str]:
    """Notes that a reader needs to interpret the rows."""
    rows = [each.row for each in models]
    found = [note for each in models for note in (far_from_end(each.row), overfitted(each)) if note]
    found += off_budget(rows, comparison.budget)
    counted = [row["name"] for row in rows if row["status"] == "ok" and row["steps"] is None]
    if counted:
        found.append(f"{', '.join(counted)}: counted the text once, which takes the same time whatever the budget.")
        if len(comparison.seeds) > 1:
            found.append(f"{', '.join(counted)}: does not depend on the seed, so it was trained once.")
    if learning := [each.name for each in comparison.entries if each.recipe and learns_from_validation(each.recipe)]:
        found.append(f"{', '.join(learning)}: learns from validation text, so a tenth of its training text was used "
                     "as such; its curve is measured on that tenth.")
    if len(comparison.seeds) > 1:
        found.append("a row's number is the mean over its seeds; its interval is for the choice of held-out text; "
                     "± is the standard deviation over seeds.")
    elif any(row["steps"] for row in rows):
        found.append("each recipe was trained with one seed; results vary with the seed, and --seeds 3 shows by how "
                     "much.")
    return found


def _page(comparison: Comparison, setting: Setting, report: dict[str, Any], shown: dict[str, Any]) -> None:
    """Writes the figures and report.html; if that fails, one line says why."""
    from chainrule.pages.page import write_page

    now = datetime.now(UTC).isoformat(timespec="seconds")
    shown_report = {**report, "created": now, "generate": (
        f"chainrule generate {setting.out / BEST} --prompt \"...\"" if report["best"] else None)}
    try:
        write_pictures(setting.out, report, shown)
    except ChainruleError as error:
        log.info(str(error))
    try:
        write_page(setting.out / PAGE, view="report", title=f"Which model for {', '.join(comparison.source.data)}?",
                   data={"report": shown_report, "details": shown})
    except ChainruleError as error:
        log.info(f"{PAGE} was not written: {error}")
