"""The first minutes: three counting models of Python's own documentation, held against each other, then asked to write.

Run it with `make demo`, or `python examples/first_minutes.py`. Everything it does is a command too; it prints them.
"""

from __future__ import annotations

import time
from pathlib import Path

import chainrule
from chainrule.cli.console import table

RECIPES = {"ngram": "words, order 5", "ngram-bytes": "bytes, order 8", "ngram-bpe": "2,048 byte pairs, order 6"}
FOLDER = Path("runs/demo")
PROMPT = "The"


def main() -> None:
    print("chainrule: three n-gram models of the Python language reference (pydoc), a tenth of it held out.\n")
    rows: list[tuple] = []
    reports = {}
    for recipe in RECIPES:
        print(f"  chainrule train {recipe} --data pydoc --out {FOLDER / recipe} split.valid=0.1")
        began = time.perf_counter()
        reports[recipe] = chainrule.train(recipe, "pydoc", FOLDER / recipe, overrides=["split.valid=0.1"], force=True)
        rows.append(row(recipe, reports[recipe], time.perf_counter() - began))
    print()
    table(["recipe", "tokens", "held-out bits per byte", "95 % interval", "n-grams", "seconds"], rows)
    print("\nLower is better. * The word model reads unseen words as <unk> and so predicts less than the text:\n"
          f"its perplexity, {reports['ngram']['valid']['perplexity']:,.0f}, compares only with other word models.")
    for recipe in ("ngram", "ngram-bpe"):
        print(f"\n  chainrule generate {FOLDER / recipe} --prompt \"{PROMPT}\" --num 3 --seed 7 "
              "--temperature 0.7 --max-tokens 40")
        how = chainrule.Sampling(seed=7, temperature=0.7)
        for generated in chainrule.generate(FOLDER / recipe, PROMPT, num=3, max_tokens=40, sampling=how):
            print(f"    {PROMPT}{' '.join(generated.text.split(chr(10)))}")
    print(f"\nThe models are in {FOLDER}. With your own text:\n  chainrule data check YOUR.txt\n"
          "  chainrule train ngram-bpe --data YOUR.txt --out runs/mine split.valid=0.1")


def row(recipe: str, report: dict, seconds: float) -> tuple:
    valid = report["valid"]
    low, high = valid["interval"]["bits_per_byte"]
    comparable = valid["bits_per_byte_comparable"]
    return (recipe, RECIPES[recipe], f"{valid['bits_per_byte']:.3f}" if comparable else "not comparable*",
            f"{low:.3f} to {high:.3f}" if comparable else "", f"{sum(report['ngrams']):,}", f"{seconds:.1f}")


if __name__ == "__main__":
    main()
