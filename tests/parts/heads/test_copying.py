"""The copying head: its probabilities straight from the equation, and words that only the source has."""

import numpy as np
import pytest
import torch

import chainrule
from chainrule.errors import OptionError
from chainrule.parts.heads._source import SeenSource
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

B, T, S, D, C, V = 2, 3, 5, 6, 4, 11


def test_agrees_with_the_definition():
    torch.manual_seed(0)
    table = torch.nn.Embedding(V, D)
    head = build("parts/heads", "copying", Place(D, vocabulary=V, outputs=V, source_width=C), table).double()
    hidden, vectors = torch.randn(B, T, D, dtype=torch.float64), torch.randn(B, S, C, dtype=torch.float64)
    ids, lengths = torch.tensor([[3, 4, 3, 9, 1], [2, 2, 7, 0, 0]]), torch.tensor([5, 3])
    found = head.log_probs(hidden, (), SeenSource(vectors, ids, lengths)).exp()
    for b in range(B):
        for t in range(T):
            own = (head.weight @ hidden[b, t]).softmax(0)
            gate = torch.sigmoid(head.gate.weight[0] @ hidden[b, t] + head.gate.bias[0])
            keys = vectors[b, :lengths[b]] @ head.key.weight.T
            weights = (keys @ (head.query.weight @ hidden[b, t]) / D**0.5).softmax(0)
            expected = gate * own
            for place, weight in enumerate(weights):
                expected[ids[b, place]] += (1 - gate) * weight
            torch.testing.assert_close(found[b, t], expected)
    one_step = head.log_probs(hidden[:, 1], (), SeenSource(vectors, ids, lengths)).exp()
    torch.testing.assert_close(one_step, found[:, 1])


def test_it_copies_names_that_it_saw_once(tmp_path):
    """The headline is the word after `by`; each name occurs once, so that only copying can learn it."""
    torch.set_num_threads(1)
    draw = np.random.default_rng(0)
    names = ["".join(draw.choice(list("bcdfgklmnprst"), 6)) for _ in range(400)]
    rows = [f"{' '.join(draw.choice(['a', 'story', 'told', 'well'], draw.integers(1, 5)))} by {name} today\t{name}\n"
            for name in names]
    (tmp_path / "train.tsv").write_text("".join(rows))
    how = ["tokenizer=words", "model.pattern=sxf", "model.source.pattern=sf", "model.width=32",
           "model.embedding.deviation=0.3", "model.embedding.scale=one", "training.budget.steps=150",
           "training.batch_tokens=800", "training.optimizer.rate=0.01", "model.dropout.rate=0", "model.f.hidden=64",
           "training.label_smoothing=0", "training.schedule=cosine", "training.patience=null"]
    chainrule.train("headlines", tmp_path / "train.tsv", tmp_path / "run", overrides=how)
    found = chainrule.evaluate(tmp_path / "run", tmp_path / "train.tsv", bootstrap=50)
    assert found["rougeL"] > 80 and found["rouge2"] == 0 and found["interval"]["rougeL"][0] > 70


def test_a_separate_vocabulary_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("a b\tc\n" * 9)
    with pytest.raises(OptionError, match=r"model.head = 'copying', expected tied or untied here. A head that copies"):
        chainrule.train("headlines", tmp_path / "a.tsv", tmp_path / "run", overrides=["task.vocabulary=separate"])
