"""A summary of a finished training in steps, for people; report.json has the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chainrule.cli.terminal.units import readable_seconds, scaled_bytes, scaled_flops

STEPPED = {"parameters", "steps", "epochs", "tokens", "flops", "skipped_steps", "tokens_per_second", "peak_memory",
           "training", "best", "last", "kept", "seconds", "valid", "advice", "loss_per"}  # what `stepped` covers


def stepped(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and text of each row."""
    return [(name, text) for name, text in _rows(report) if text]


def _rows(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    seconds = report["seconds"]
    yield "parameters", f"{report['parameters']:,}"
    yield "trained on", (f"{report['tokens']:,} tokens in {report['steps']:,} step{'s' * (report['steps'] != 1)}, "
                         f"{report['epochs']:.3g} times the text; {scaled_flops(report['flops'])}FLOP")
    yield "training loss", _loss(report["training"], report.get("loss_per", "token"))
    yield "validation", _validation(report)
    yield "kept", _kept(report)
    went_on = seconds["training"] > seconds["total"]
    yield "time", (f"{readable_seconds(seconds['training'])} of training, {readable_seconds(seconds['total'])} "
                   f"{'since it was resumed' if went_on else 'in all'}")
    yield "speed", f"{report['tokens_per_second']:,} tokens/s"
    yield "memory", f"{scaled_bytes(report['peak_memory'])} at most"
    skipped = report["skipped_steps"]
    yield "skipped", f"{skipped:,} steps whose loss or gradient was not finite" if skipped else ""


def _loss(found: Mapping[str, float], per: str) -> str:
    """`3.214 nats per token, 2.105 bits per byte (the last steps)`"""
    if not found:
        return ""
    bits = f", {found['bits_per_byte']:.3f} bits per byte" if found.get("bits_per_byte") is not None else ""
    return f"{found['loss']:.3f} nats per {per}{bits} (mean of the last steps)"


def _validation(report: Mapping[str, Any]) -> str:
    if "folds" in report:
        return "by the folds, below"
    if "valid" not in report:
        return "none: there was no validation text (--valid SPEC, or split.valid=0.1)"
    return measured(report["valid"])


def measured(valid: Mapping[str, Any]) -> str:
    """Results on the validation text, by the metrics of the task."""
    match valid:
        case {"bits_per_byte_comparable": comparable}:
            note = "" if comparable else " (not comparable: the tokens lose text)"
            return (f"perplexity {valid['perplexity']:,.2f}, {valid['bits_per_byte']:.4f} bits per byte{note}, "
                    f"{valid['tokens']:,} tokens")
        case {"masked": masked}:
            return (f"accuracy {valid['accuracy']:.4f}, perplexity {valid['perplexity']:,.2f}, of {masked:,} hidden "
                    "tokens")
        case {"examples": examples}:
            from chainrule.classifying.measuring import spelled

            return f"{spelled(valid)}, {examples:,} examples"
    numbers = {key: value for key, value in valid.items() if isinstance(value, int | float)}
    return ", ".join(f"{key.replace('_', ' ')} {value:,.4f}" if isinstance(value, float) else
                     f"{value:,} {key.replace('_', ' ')}" for key, value in numbers.items())


def _kept(report: Mapping[str, Any]) -> str:
    """Which step's weights the run holds, and whether another step was better in validation."""
    kept, best = report["kept"], report.get("best")
    if best is None:
        return f"the model of step {kept:,}, the last"
    if kept == best["step"]:
        return f"the model of step {kept:,}, the best in validation"
    return (f"the model of step {kept:,}, the last; step {int(best['step']):,} was better in validation "
            "(training.patience keeps the best)")
