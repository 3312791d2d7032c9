"""Curves for Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import uuid4

from chainrule.recipe.registry import part
from chainrule.training.loggers._logger import Session, needed


@part
class WeightsAndBiases:
    """Sends every row to Weights & Biases, or keeps it for `wandb sync` with `mode: offline`.

    The recipe is the configuration of the W&B run. A training that is resumed continues the same W&B run, whose id
    is in `logs/wandb-id`. W&B keeps its own files in `wandb/` or WANDB_DIR, as always.
    """

    def __init__(self, session: Session, *, project: str = "chainrule", mode: Literal["online", "offline"] = "online"):
        module = needed("wandb", "wandb")
        session.folder.mkdir(parents=True, exist_ok=True)
        number = session.folder / "wandb-id"
        if not number.exists():
            number.write_text(uuid4().hex[:16], encoding="utf-8")
        self._run = module.init(project=project, name=session.name, id=number.read_text(encoding="utf-8"), mode=mode,
                                resume="allow", config=dict(session.recipe),
                                settings=module.Settings(console="off", silent=mode == "offline"))

    def row(self, step: int, numbers: Mapping[str, float]) -> None:
        self._run.log(dict(numbers), step=step)

    def close(self) -> None:
        self._run.finish(quiet=True)
