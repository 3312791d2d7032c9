"""`chainrule.quantize`: a smaller run of a text classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened


def quantize(run: str | Path | LoadedRun, out: str | Path, *, cutoff: int | None = None, piece: int = 2,
             norms: bool = True, force: bool = False) -> dict[str, Any]:
    """Makes a smaller run of a text classifier: `cutoff` features at most, a byte for every `piece` numbers."""
    from chainrule.classifying.shrinking import facts, shrunk, size_of
    from chainrule.families.text_classifier import save_shrunk
    from chainrule.storage import check_target

    check_target(out, replace=force)
    loaded = opened(run)
    small = shrunk(loaded.offering(Classifier, "quantize"), cutoff=cutoff, piece=piece, norms=norms,
                   seed=loaded.recipe.seed)
    found = facts(loaded.model, small)
    save_shrunk(loaded, small, Path(out), {**found, "cutoff": cutoff, "piece": piece, "norms": norms}, replace=force)
    return {"run": str(out), **found, "bytes": size_of(Path(out)), "bytes_before": size_of(loaded.path)}
