"""The tokenizer.json layout of the `tokenizers` library, written without importing it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
START_STOP = ("⟨s⟩", "⟨/s⟩")  # marks that the byte-level alphabet cannot spell, so no text ever merges to one


def layout(model: Mapping[str, Any], specials: Mapping[str, int], pre_tokenizer: Any, decoder: Any,
           normalizer: Mapping[str, Any] | None = None) -> str:
    """The whole file as JSON; `tokenizers.Tokenizer.from_file` reads it."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": id, "content": spelling, **flags} for spelling, id in specials.items()]
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": decoder, "model": dict(model),
    }, ensure_ascii=False)


def byte_spellings() -> list[str]:
    """One printable character for each of the 256 bytes, as GPT-2's byte-level alphabet has it.

    Radford et al. 2019: printable Latin-1 stands for itself, the other bytes for the code points from U+0100.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]
