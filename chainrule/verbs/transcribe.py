"""`chainrule.transcribe`: the texts of recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chainrule.errors import OptionError, UsageError
from chainrule.protocols import Transcriber
from chainrule.runs import LoadedRun, opened


def transcribe(run: str | Path | LoadedRun, recordings: Sequence[str | bytes | Path], *, beams: int = 1
               ) -> list[list[tuple[str, float]]]:
    """For each recording, by its path, the likeliest texts with ln p, likeliest first.

    One beam gives one text: of CTC the likeliest path, of attention what is greedily written. With more beams there
    are up to as many texts, and the first is often better.
    """
    if isinstance(recordings, str | bytes | Path):
        raise UsageError("transcribe takes a list of files, not one file: transcribe(run, [file]).")
    if beams < 1:
        raise OptionError("beams", beams, "at least 1")
    model = opened(run).offering(Transcriber, "transcribe")
    return model.transcribe([str(each) if isinstance(each, Path) else each for each in recordings], beams=beams)
