"""Bytes that are not UTF-8 are errors with file, line and offset; nothing is converted without being asked for."""

from __future__ import annotations

from chainrule.errors import DataError

MARKS = {  # byte-order marks, the longer first
    b"\xff\xfe\x00\x00": "UTF-32LE", b"\x00\x00\xfe\xff": "UTF-32BE", b"\xff\xfe": "UTF-16LE", b"\xfe\xff": "UTF-16BE",
}
MAGIC = {
    b"\x1f\x8b": "gzip (.gz)", b"\xfd7zXZ\x00": "xz (.xz)", b"\x28\xb5\x2f\xfd": "Zstandard (.zst)",
    b"PK\x03\x04": "zip", b"BZh": "bzip2", b"%PDF-": "PDF", b"PAR1": "Parquet (.parquet)",
    b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF", b"\x7fELF": "program (ELF)",
}
BOM = b"\xef\xbb\xbf"
CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1b")
LOOK = 1 << 16  # bytes read to distinguish binary from text


def without_bom(data: bytes, source: str) -> tuple[bytes, int]:
    """The text after a UTF-8 byte-order mark, and where in the file it starts."""
    for mark, name in MARKS.items():
        if data.startswith(mark):
            raise DataError(f"{source}: the file is {name}, expected UTF-8. Convert it with: "
                            f"iconv -f {name} -t UTF-8 {source}")
    return (data[3:], 3) if data.startswith(BOM) else (data, 0)


def refuse_binary(data: bytes, source: str) -> None:
    """Refuses packed files under a wrong name, and files with more control bytes than any text has."""
    for magic, name in MAGIC.items():
        if data.startswith(magic) and not _is_text(data[:LOOK]):
            raise DataError(f"{source}: this is a {name} file, expected text. Name or unpack it accordingly.")
    if not data.startswith(tuple(MARKS)) and (share := _controls(data[:LOOK])):
        raise DataError(f"{source}: the file looks binary ({share:.0%} control bytes), expected UTF-8 text.")


def valid_utf8(data: bytes, source: str, *, line: int, offset: int, errors: str) -> bytes:
    """The same bytes where they are UTF-8; otherwise an error, or U+FFFD with errors=replace.

    `errors` is the option text.errors, strict or replace; `convert` where there is no such option to advise.
    """
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if errors == "replace":
            return data.decode(errors="replace").encode()
        raise DataError(_where(data, error.start, source, line, offset) + _advice(data, error.start, source,
                                                                                  errors)) from None
    return data


def _where(data: bytes, bad: int, source: str, line: int, offset: int) -> str:
    line += data.count(b"\n", 0, bad)
    return f"{source}: line {line}, byte {offset + bad}: 0x{data[bad]:02x} is not UTF-8."


def _advice(data: bytes, bad: int, source: str, errors: str) -> str:
    guess = _probable_encoding(data[max(0, bad - LOOK) : bad + LOOK])
    convert = f" Probably {guess}: convert with iconv -f {guess} -t UTF-8 {source}" if guess else " Convert it"
    other = "" if errors == "convert" else ", or set text.errors=replace to read bad bytes as U+FFFD"
    return f"{convert}{other}."


def _probable_encoding(data: bytes) -> str | None:
    """As iconv names it. Of the 8-bit encodings that a short text may be in, the usual Western one is preferred."""
    from charset_normalizer import from_bytes

    found = from_bytes(data)
    names = {name for match in found for name in match.could_be_from_charset}
    if "cp1252" in names:
        return "CP1252" if data.translate(None, bytes(range(0x80, 0xA0))) != data else "ISO-8859-1"
    best = found.best()
    return None if best is None else best.encoding.replace("_", "-").upper()


def _controls(data: bytes) -> float:
    """The share of control bytes, 0 where there are so few that it may be text."""
    count = len(data) - len(data.translate(None, CONTROLS))
    return count / len(data) if count > 32 and count * 20 > len(data) else 0.0


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4
    return not _controls(data)
