"""How tags mark entities of several words: BIO, IOB1 and BIOES read, detected, repaired and turned into each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chainrule.errors import DataError, OptionError

PREFIXES = {"bio": "BI", "iob1": "BI", "bioes": "BIES"}
SCHEMES = ("plain", *PREFIXES)
OUTSIDE = "O"
TAG = re.compile(r"([BIES])(?:-(.+))?", re.DOTALL)
BILOU = re.compile(r"O|[BILU](?:-.+)?", re.DOTALL)
HINT = "`plain` tags stand each for itself; `bio`, `iob1` and `bioes` mark entities."


def detect(tags: Iterable[Sequence[str]]) -> str:
    """The scheme that sentences of tags are written in.

    `bioes`: E or S occur. `bio` (IOB2): B begins every entity. `iob1`: B only stands where an entity directly follows
    one of its own type, I begins all others. Of these two the one that fewer tags break, `bio` where both or neither
    do. `plain`: tags that are no prefix with a type, or O alone.
    """
    sentences = [list(each) for each in tags]
    used = {tag for each in sentences for tag in each}
    found = {match[1] for tag in used if tag != OUTSIDE and (match := TAG.fullmatch(tag))}
    if not found or any(tag != OUTSIDE and not TAG.fullmatch(tag) for tag in used):
        if all(map(BILOU.fullmatch, used)) and _mixes(used):
            raise DataError(f"tags = {', '.join(sorted(used)[:6])}, expected BIO, IOB1 or BIOES. This is BILOU: write "
                            "E for L, and S for U.")
        return "plain"
    if found & {"E", "S"}:
        return "bioes"
    broken = {scheme: sum(repaired(each, scheme)[1] for each in sentences) for scheme in ("bio", "iob1")}
    return min(broken, key=broken.__getitem__)


def _mixes(used: set[str]) -> bool:
    """Whether B or I stand beside L or U, each with a type."""
    prefixes = {tag[0] for tag in used if tag[1:2] == "-"}
    return bool(prefixes & {"L", "U"} and prefixes & {"B", "I"})


def spans(tags: Sequence[str], scheme: str) -> list[tuple[str, int, int]]:
    """(type, first, behind the last) of each entity, as conlleval reads them: an invalid sequence has entities too.

    Between two tags of entities lies a border if the second is B or S, the first is E or S, or their types differ.
    Tjong Kim Sang & Buchholz 2000, "Introduction to the CoNLL-2000 shared task"; seqeval's default.
    """
    found: list[tuple[str, int, int]] = []
    before, of = OUTSIDE, ""
    for place, tag in enumerate(tags):
        prefix, kind = parted(tag, scheme)
        if prefix != OUTSIDE:
            if before == OUTSIDE or prefix in "BS" or before in "ES" or kind != of:
                found.append((kind, place, place + 1))
            else:
                found[-1] = (kind, found[-1][1], place + 1)
        before, of = prefix, kind
    return found


def parted(tag: str, scheme: str) -> tuple[str, str]:
    """Prefix and type: B-PER is (B, PER), and `_` stands for a type that is not written."""
    if tag == OUTSIDE and scheme in PREFIXES:
        return OUTSIDE, ""
    match = TAG.fullmatch(tag)
    if match is None or match[1] not in _prefixes(scheme):
        said = ", ".join(f"{each}-TYPE" for each in _prefixes(scheme))
        raise DataError(f"tag = {tag!r}, expected O, {said} for the scheme {scheme!r}.")
    return match[1], match[2] or "_"


def _prefixes(scheme: str) -> str:
    if scheme not in PREFIXES:
        raise OptionError("scheme", scheme, f"one of {', '.join(PREFIXES)}", HINT)
    return PREFIXES[scheme]


def written(entities: Iterable[tuple[str, int, int]], length: int, scheme: str) -> list[str]:
    """The tags of so many words with these entities: the reverse of `spans`."""
    _prefixes(scheme)
    tags = [OUTSIDE] * length
    last, of = -1, ""  # where the entity before ends, and its type
    for kind, begin, end in entities:
        prefixes = ["I"] * (end - begin)
        if scheme != "iob1" or (last == begin and of == kind):
            prefixes[0] = "B"
        if scheme == "bioes":
            prefixes[-1] = "S" if end - begin == 1 else "E"
        tags[begin:end] = [prefix if kind == "_" else f"{prefix}-{kind}" for prefix in prefixes]
        last, of = end, kind
    return tags


def repaired(tags: Sequence[str], scheme: str) -> tuple[list[str], int]:
    """Tags that keep the rules of their scheme, and how many had to be changed: entities stay as conlleval reads them.

    O I-PER is O B-PER in `bio`; B-LOC I-PER becomes B-LOC B-PER; O B-PER is O I-PER in `iob1`; a lone B-PER of `bioes`
    becomes S-PER.
    """
    if scheme == "plain":
        return list(tags), 0
    found = written(spans(tags, scheme), len(tags), scheme)
    return found, sum(one != other for one, other in zip(tags, found, strict=True))


def converted(tags: Sequence[str], old: str, new: str) -> list[str]:
    """The same entities in another scheme."""
    if old == new == "plain":
        return list(tags)
    return written(spans(tags, old), len(tags), new)
