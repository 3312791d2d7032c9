"""Training translators on a CPU beside JoeyNMT and transformers: tokens a processor second, in turns, in one run.

    python benchmarks/translation.py [--data ../shared/data] [--seconds 20] [--threads 1]

The same Transformer (4 + 4 layers of 256, 4 heads, one table) and the same LSTM with additive attention and input
feeding (256 wide, one layer, a source read both ways) of ours and of JoeyNMT 2.3, and transformers' Marian of the
Transformer's shape; float32, label smoothing 0.1, dropout 0.1, AdamW. All read the same batches of Multi30k, of at most
4,096 tokens. JoeyNMT pins old versions of what it needs, so it is installed without: pip install --no-deps joeynmt
'importlib_metadata<8' zipp sentencepiece subword-nmt sacremoses matplotlib kiwisolver contourpy cycler fonttools
pyparsing python-dateutil
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from chainrule.inputs.texts import Texts, ids_of
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.recipe.registry import build
from chainrule.tasks._pairs import EncodedPairs, PairKnown, PairsRead
from chainrule.tasks.translation import Translation
from chainrule.text.options import TextOptions
from chainrule.training.callbacks import Callbacks
from chainrule.training.plan import Budget, Plan
from chainrule.training.state import TrainingState
from chainrule.training.torch_learner import TorchLearner

VOCABULARY, WIDTH, HEADS, LAYERS = 6000, 256, 4, 4
Step = Callable[[Any], Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--seconds", type=float, default=20, help="of measuring, for each")
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    data = batches(given.data / "multi30k-en-de")
    shapes = {"Transformer": {"chainrule": ours(data, transformer()), "JoeyNMT": joey(TRANSFORMER),
                              "transformers Marian": marian()},
              "LSTM with attention": {"chainrule": ours(data, recurrent()), "JoeyNMT": joey(RECURRENT)}}
    for name, steps in shapes.items():
        rates = rounds({who: step for who, step in steps.items() if step is not None}, data, given.seconds)
        for who, own in rates.items():
            print(f"{name:20} {who:20} {statistics.median(own):8,.0f} tokens/CPU s   ours / theirs "
                  f"{statistics.median(rates['chainrule']) / statistics.median(own):.2f}", flush=True)


def batches(folder: Path) -> Any:
    """The training data of `chainrule train` on Multi30k."""
    lines = []
    for side in ("en", "de"):
        with gzip.open(folder / f"train.{side}.gz", "rb") as file:
            lines.append(file.read().splitlines())
    tokenizer = build("text/tokenizers", {"name": "byte_pair", "size": VOCABULARY}).train(
        Texts([*lines[0], *lines[1]]), TextOptions())
    task = Translation()
    known = PairKnown(tokenizer, task.sizes(tokenizer.vocabulary_size), {"inputs": {}}, tokenizer)
    pairs = EncodedPairs(task.encoded_sources(lines[0], known, 1 << 30), ids_of(lines[1], tokenizer))
    plan = Plan(Budget(steps=1), batch_tokens=4096)
    return task.training_data(PairsRead(known, pairs, None), None, plan, print)


def transformer() -> Shape:
    parts = {"s": {"name": "attention", "heads": HEADS, "bias": True}, "x": {"name": "cross_attention", "heads": HEADS,
             "bias": True}, "f": {"name": "mlp", "hidden": 4 * WIDTH, "activation": "relu"}}
    same = {"width": WIDTH, "context": 256, "parts": parts, "norm": "layer", "position": "sinusoidal",
            "dropout": {"name": "independent", "rate": 0.1}}
    source = Shape(pattern=f"(sf)*{LAYERS}", causal=False, shared_embedding=True, **same)  # type: ignore[arg-type]
    return Shape(pattern=f"(sxf)*{LAYERS}", source=source, **same)  # type: ignore[arg-type]


def recurrent() -> Shape:
    same = {"width": WIDTH, "context": 256, "norm": "none", "wiring": "plain", "position": "none",
            "dropout": {"name": "independent", "rate": 0.1}}
    source = Shape(pattern="r", parts={"r": "lstm"}, causal=False, shared_embedding=True, **same)  # type: ignore[arg-type]
    parts = {"r": {"name": "input_feeding", "attend": "additive"}}
    return Shape(pattern="r", parts=parts, source=source, **same)  # type: ignore[arg-type]


def ours(data: Any, shape: Shape) -> Step:
    torch.manual_seed(0)
    network = Stack(shape, Sizes(VOCABULARY, VOCABULARY, source=Sizes(VOCABULARY, VOCABULARY)))
    plan = Plan(Budget(steps=1), batch_tokens=4096, label_smoothing=0.1, keep=0)
    learner, state = TorchLearner(network, Translation(), data, plan, Callbacks()), TrainingState(accumulation=1)

    def step(batch: Any) -> Any:
        learner.data = SimpleNamespace(batch=lambda _: batch, rows=len(batch), carries=False, steps_per_epoch=1e9)
        return learner.step(state, 0.5)

    return step


TRANSFORMER = {"encoder": {"type": "transformer", "num_layers": LAYERS, "num_heads": HEADS, "embeddings": {
    "embedding_dim": WIDTH, "scale": True, "dropout": 0.1}, "hidden_size": WIDTH, "ff_size": 4 * WIDTH, "dropout": 0.1},
    "decoder": {"type": "transformer", "num_layers": LAYERS, "num_heads": HEADS, "embeddings": {
        "embedding_dim": WIDTH, "scale": True, "dropout": 0.1}, "hidden_size": WIDTH, "ff_size": 4 * WIDTH,
        "dropout": 0.1}, "tied_embeddings": True, "tied_softmax": True}
RECURRENT = {"encoder": {"type": "recurrent", "rnn_type": "lstm", "embeddings": {"embedding_dim": WIDTH},
                         "hidden_size": WIDTH // 2, "bidirectional": True, "num_layers": 1, "dropout": 0.1},
             "decoder": {"type": "recurrent", "rnn_type": "lstm", "embeddings": {"embedding_dim": WIDTH},
                         "hidden_size": WIDTH, "num_layers": 1, "dropout": 0.1, "hidden_dropout": 0.1,
                         "attention": "bahdanau", "input_feeding": True, "init_hidden": "zero"},
             "tied_embeddings": True, "tied_softmax": True}


def joey(shape: dict[str, Any]) -> Step | None:
    try:
        from joeynmt.model import build_model
        from joeynmt.vocabulary import Vocabulary
    except ImportError as error:
        print(f"without JoeyNMT: {error}")
        return None
    special = SimpleNamespace(unk_id=0, unk_token="<unk>", pad_id=1, pad_token="<pad>", bos_id=2, bos_token="<s>",
                              eos_id=3, eos_token="</s>", sep_id=None, sep_token=None, lang_tags=[])
    words = Vocabulary([f"w{n}" for n in range(VOCABULARY - 4)], special)
    model = build_model({**shape, "initializer": "xavier_uniform"}, words, words).train()
    model.loss_function = ("crossentropy", 0.1)

    def loss(batch: Any) -> torch.Tensor:
        order = np.argsort(-batch.source_lengths, kind="stable")  # its recurrent encoder wants long sources first
        source, lengths, targets, given = (torch.from_numpy(each[order]) for each in (
            batch.source, batch.source_lengths, batch.targets, batch.inputs))
        there = torch.arange(source.shape[1]) < lengths[:, None]
        wanted = targets.masked_fill(targets < 0, 1)
        return model(return_type="loss", src=source.masked_fill(~there, 1), src_mask=there[:, None],
                     src_length=lengths, trg_input=given, trg=wanted, trg_mask=(wanted != 1)[:, None])[0] / batch.count

    return stepping(model, loss)


def marian() -> Step | None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import MarianConfig, MarianMTModel

    model = MarianMTModel(MarianConfig(
        vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS,
        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=4 * WIDTH,
        decoder_ffn_dim=4 * WIDTH, dropout=0.1, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
        forced_eos_token_id=None)).train()

    def loss(batch: Any) -> torch.Tensor:
        there = torch.arange(batch.source.shape[1]) < torch.from_numpy(batch.source_lengths)[:, None]
        found = model(input_ids=torch.from_numpy(batch.source), attention_mask=there.long(),
                      decoder_input_ids=torch.from_numpy(batch.inputs), use_cache=False).logits
        return F.cross_entropy(found.flatten(0, 1), torch.from_numpy(batch.targets).flatten(), label_smoothing=0.1)

    return stepping(model, loss)


def stepping(model: nn.Module, loss: Callable[[Any], torch.Tensor]) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step(batch: Any) -> None:
        loss(batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def rounds(steps: dict[str, Step], data: Any, seconds: float) -> dict[str, list[float]]:
    """Tokens of sources and targets, without padding, a second of processor time; all read every batch, in turns."""
    rates: dict[str, list[float]] = {who: [] for who in steps}
    until, number = time.perf_counter() + seconds * len(steps), 0
    while time.perf_counter() < until or number < 3:
        batch = data.batch(number)
        tokens = int(np.sum(batch.lengths) + np.sum(batch.source_lengths))
        for who, step in steps.items():
            began = time.process_time()
            step(batch)
            if number:
                rates[who].append(tokens / (time.process_time() - began))
        number += 1
    return rates


if __name__ == "__main__":
    main()
