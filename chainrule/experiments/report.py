"""The report of a comparison: rows, pairs, notes and advice, as report.json, details.json and a page."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from chainrule.errors import ChainruleError
from chainrule.experiments.advice import advice
from chainrule.experiments.compressors import compressed
from chainrule.experiments.details import details
from chainrule.experiments.duplicates import duplicates, sentence
from chainrule.experiments.losses import units
from chainrule.experiments.measuring import write
from chainrule.experiments.mixing import mixture
from chainrule.experiments.pairs import put_intervals
from chainrule.experiments.place import BEST, DETAILS, PAGE, REPORT, point_to_best
from chainrule.experiments.running import Setting, Trial
from chainrule.experiments.standings import Standing, by_heart, empty_row, few_steps, off_budget, standing
from chainrule.experiments.terms import looked_at
from chainrule.experiments.trial import learns_from_validation
from chainrule.storage.environment import environment
from chainrule.storage.json_text import json_value
from chainrule.text.corpora.corpus import documents

if TYPE_CHECKING:
    from chainrule.experiments.compare import Plan

log = logging.getLogger("chainrule")


def written(plan: Plan, trials: Mapping[str, Sequence[Trial]], outcomes: Mapping[str, Sequence[dict[str, Any]]],
            setting: Setting, command: str) -> dict[str, Any]:
    """Puts all results together, writes the files and returns the report."""
    drawn = units(plan.documents)
    models = [standing(each, trials.get(each.name, []), outcomes.get(each.name, []), setting, drawn)
              for each in plan.entries]
    models.sort(key=lambda each: (each.row["bits_per_byte"] is None, not each.row["comparable"],
                                  each.row["bits_per_byte"]))
    members = [each for each in models if each.losses]
    mixed, left_out = mixture(members, drawn)
    pairs = put_intervals([*members, *([mixed] if mixed else [])], drawn)
    compressors = _compressors(plan, setting)
    rows = [*(each.row for each in models), *(compressors), *([mixed.row] if mixed else [])]
    twice = duplicates(plan.train, plan.documents)
    best = members[0].row if members else None
    notes = [*plan.notes, drawn.note, sentence(twice, int(drawn.bytes.sum())), left_out, *_notes(models, plan)]
    report = json_value({
        "format": 1, "command": command, "data": _data(plan) | {"duplicates": twice},
        "budget": {"kind": plan.budget.kind, "amount": plan.budget.amount}, "seeds": plan.seeds,
        "tokenizer": _tokenizer(plan, members), "environment": environment(), "units": drawn.kind,
        "notes": [note for note in notes if note], "advice": advice(rows, pairs),
        "best": best["name"] if best else None, "rows": rows, "pairs": pairs})
    point_to_best(setting.out, best["run"] if best else None)
    shown = json_value(details(models, setting, plan.train, plan.documents))
    shown["curves_on"] = f"the first {looked_at(plan.budget):,} tokens of the held-out text"
    write(setting.out / DETAILS, shown)
    write(setting.out / REPORT, report)
    _page(plan, setting, report, shown)
    return report


def _compressors(plan: Plan, setting: Setting) -> list[dict[str, Any]]:
    """Their rows; what was computed before for the same text is not computed again."""
    path, key = setting.out / "trials" / "compressors.json", list(setting.fingerprints)
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if known.get("text") != key:
        known = {"text": key, "found": compressed(plan.train, plan.documents)}
        write(path, known)
    rows = []
    for name, found in known["found"].items():
        row = empty_row(name, "compressor", None)
        rows.append(row | {"bits_per_byte": found["bits_per_byte"], "alone": found["alone"],
                           "measured": row["measured"] | {"training_seconds": round(found["seconds"], 3)}})
    return rows


def _data(plan: Plan) -> dict[str, Any]:
    train_documents = sum(1 for _ in documents(plan.train))
    return {"spec": list(plan.source.data), "valid": plan.source.valid and list(plan.source.valid),
            "split": None if plan.source.valid else {"valid": plan.source.fraction, "seed": plan.source.seed},
            "documents": train_documents + len(plan.documents),
            "train_bytes": sum(len(chunk.data) for chunk in plan.train.chunks()), "train_documents": train_documents,
            "held_out_bytes": sum(map(len, plan.documents)), "held_out_documents": len(plan.documents)}


def _tokenizer(plan: Plan, members: Sequence[Standing]) -> Any:
    if plan.tokenizer is None:
        return "own"
    return plan.tokenizer | ({"vocabulary": members[0].outcomes[0]["vocabulary"]} if members else {})


def _notes(models: Sequence[Standing], plan: Plan) -> list[str]:
    """What a reader must know of the rows."""
    found = [note for each in models
             for note in (few_steps(each.row), off_budget(each.row, plan.budget), by_heart(each)) if note]
    rows = [each.row for each in models]
    counted = [row["name"] for row in rows if row["status"] == "ok" and row["steps"] is None]
    if counted:
        found.append(f"{', '.join(counted)}: counted the text once and took what that takes, whatever the budget.")
        if len(plan.seeds) > 1:
            found.append(f"{', '.join(counted)}: no seed changes a count, so it was made once.")
    if learning := [each.name for each in plan.entries if each.recipe and learns_from_validation(each.recipe)]:
        found.append(f"{', '.join(learning)}: learns from validation text, and was given a tenth of its training text "
                     "for that; its curve is drawn on that tenth.")
    if lossy := [row["name"] for row in rows if row["status"] == "ok" and not row["comparable"]]:
        found.append(f"{', '.join(lossy)}: the tokens lose text, so the bits per byte compare with no other row.")
    if len(plan.seeds) > 1:
        found.append("a row's number is the mean over its seeds; its interval is about the choice of held-out text; "
                     "± is the standard deviation over seeds.")
    elif any(row["steps"] for row in rows):
        found.append("one seed was trained of each: another seed of the same recipe differs too; --seeds 3 shows by "
                     "how much.")
    return found


def _page(plan: Plan, setting: Setting, report: dict[str, Any], shown: dict[str, Any]) -> None:
    """report.html, unless the page cannot be made: then one line says why."""
    from chainrule.pages.page import write_page

    now = datetime.now(UTC).isoformat(timespec="seconds")
    told = {**report, "created": now, "generate": f"chainrule generate {setting.out / BEST} --prompt \"...\""}
    try:
        write_page(setting.out / PAGE, view="report", title=f"Which model for {', '.join(plan.source.data)}?",
                   data={"report": told, "details": shown})
    except ChainruleError as error:
        log.info(f"{PAGE} was not written: {error}")
