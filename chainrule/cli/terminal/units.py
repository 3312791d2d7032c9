"""Numbers as people read them: bytes, FLOPs and seconds, each in the unit that fits."""

from __future__ import annotations


def scaled_bytes(number: float) -> str:
    """`69 MiB`: powers of 1024."""
    return _scaled(number, ("bytes", "KiB", "MiB", "GiB", "TiB"), 1024.0)


def scaled_flops(number: float) -> str:
    """`2.37 M`, to be followed by FLOP."""
    return _scaled(number, ("", "K", "M", "G", "T", "P", "E", "Z", "Y"), 1000.0)


def readable_seconds(seconds: float) -> str:
    """`12 s`, `3 min`, `2.5 hours`, `40 days`, `1,200 years`."""
    for unit, size, limit in (("s", 1, 120), ("min", 60, 120), ("hours", 3600, 48), ("days", 86400, 730)):
        if seconds < size * limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 31557600:,.3g} years"


def _scaled(number: float, units: tuple[str, ...], step: float) -> str:
    for unit in units:
        if number < step or unit == units[-1]:
            shown = f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"
            return f"{shown} {unit}" if unit else shown
        number /= step
    raise AssertionError("units end")
