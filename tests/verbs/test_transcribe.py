"""chainrule.transcribe refuses what it cannot use, by its own words."""

import pytest

import chainrule
from chainrule.errors import OptionError, UsageError


def test_one_file_is_not_a_list():
    with pytest.raises(UsageError, match=r"takes a list of files, not one file: transcribe\(run, \[file\]\)"):
        chainrule.transcribe("run", "a.wav")
    with pytest.raises(OptionError, match="beams = 0, expected at least 1"):
        chainrule.transcribe("run", ["a.wav"], beams=0)
