"""A comparison made by hand, in the form that `chainrule compare` gives to the page; its texts mean no good."""

MODELS = ["ngram", "lstm", "transformer"]
EVIL = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"


def row(name, bits, **more):
    return {"name": name, "kind": "model", "family": "neural", "status": "ok", "why": None, "run": f"runs/{name}",
            "bits_per_byte": bits, "interval": [bits - 0.1, bits + 0.1], "comparable": True, "seeds": [],
            "parameters": 1_500_000, "flops": 2.5e12, "tokens": 100_000, "disk_bytes": 6_000_000,
            "measured": {"training_seconds": 60.2, "tokens_per_second": 2_200, "peak_memory": 440_000_000,
                         "generation_tokens_per_second": 310}} | more


def report():
    rows = [row("ngram", 1.92, family="ngram", measured={"training_seconds": 0.6}, flops=None), row("lstm", 2.04),
            row("transformer", 2.31), row("words", 1.2, comparable=False, perplexity=294.0),
            {"name": "gated-conv", "kind": "model", "status": "failed", "why": "training.batch = 9999 needs 31 GB."},
            {"name": "xz", "kind": "compressor", "status": "ok", "bits_per_byte": 2.6, "interval": None},
            row("mixture", 1.83, kind="mixture", weights={"ngram": 0.5, "lstm": 0.3, "transformer": 0.2})]
    pairs = [{"a": "ngram", "b": "lstm", "difference": -0.12, "low": -0.2, "high": -0.04, "p_value": 0.01,
              "significant": True},
             {"a": "lstm", "b": "transformer", "difference": -0.27, "low": -0.6, "high": 0.06, "p_value": 0.1,
              "significant": False}]
    return {"format": 1, "command": "chainrule compare ngram lstm --data pydoc --budget 1m --out report",
            "data": {"spec": "pydoc", "documents": 79, "train_bytes": 400_000, "held_out_bytes": 65_000,
                     "held_out_pieces": 9, "held_out_piece": "document", "duplicates": 0},
            "budget": {"kind": "seconds", "amount": 60}, "seeds": [0], "tokenizer": {"name": "byte_pair", "size": 2048},
            "environment": {"processor": "A Processor", "cores": 2, "chainrule": "0.1.0", "packages": {}},
            "notes": ["The held-out text has 9 documents."], "advice": [f"Take ngram. {EVIL}"], "best": "ngram",
            "rows": rows, "pairs": pairs}


def details(documents=9):
    curve = [{"seconds": 6.0 * n, "tokens": 12_000 * n, "flops": 1e11 * n, "bits_per_byte": 2 + 1 / n}
             for n in range(1, 11)]
    words = ["The", " assert", " statement", "\n", EVIL, " \ud800"]
    segments = [{"text": word, "bits": [1.0 + n, 5.0 - n, 3.0],
                 "top": [[[word, 0.5], [" b", 0.2], [" c", 0.1], [" d", 0.05], [EVIL, 0.01]]] * 3}
                for n, word in enumerate(words)]
    return {"curves": {"ngram": curve[:1], "lstm": curve, "transformer": curve},
            "by_position": {"edges": [0, 16, 32, 64], "unit": "tokens",
                            "values": dict.fromkeys(MODELS, [2.5, 2.1, None])},
            "by_frequency": {"labels": ["unseen", "1", "2–9"], "shares": [0.2, 0.3, 0.5],
                             "values": dict.fromkeys(MODELS, [3.5, 2.5, 1.5])},
            "by_document": {"labels": [f"{EVIL} {n}" for n in range(documents)], "bytes": [1000] * documents,
                            "values": dict.fromkeys(MODELS, [1.5 + n / documents for n in range(documents)])},
            "text": {"models": MODELS, "documents": [{"title": EVIL, "segments": segments},
                                                     {"title": "Another", "segments": segments[:2]}]},
            "samples": [{"prompt": "The ", "texts": {name: [f"{name} writes {EVIL}"] for name in MODELS}}],
            "recipes": {name: f"family: {name}\n" for name in MODELS}}
