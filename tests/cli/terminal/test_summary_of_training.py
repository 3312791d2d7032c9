"""The summary after training says nothing that cannot be."""

from chainrule.cli.terminal.summary import stepped

REPORT = {"parameters": 9, "tokens": 10, "steps": 1, "epochs": 0.5, "flops": 1e9, "training": {"loss": 1.0}, "kept": 1,
          "tokens_per_second": 5, "peak_memory": 100, "skipped_steps": 0}


def test_total_seconds_of_a_resumed_training_include_its_training_seconds():
    whole, resumed = ({"training": 12.0, "total": total} for total in (13.0, 7.7))
    assert dict(stepped({**REPORT, "seconds": whole}))["time"] == "12 s of training, 13 s in all"
    assert dict(stepped({**REPORT, "seconds": resumed}))["time"] == "12 s of training, 7.7 s since it was resumed"
