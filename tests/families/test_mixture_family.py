"""A mixture of finished runs: better than its members on the text between them, and a run like any other."""

import numpy as np
import pytest

from chainrule.errors import UsageError
from chainrule.runs import load
from chainrule.verbs.evaluate import evaluate
from chainrule.verbs.train import train


@pytest.fixture
def members(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"] * 9) + "\n")
    for order in (1, 3):
        train("ngram", text, tmp_path / f"o{order}", overrides=[f"model.order={order}"])
    held_out = tmp_path / "valid.txt"
    held_out.write_text("the cat sat on a log\na dog and the mat\n")
    return tmp_path / "o1", tmp_path / "o3", held_out


def test_a_mixture_is_the_weighted_average_of_its_members(members, tmp_path):
    one, three, held_out = members
    report = train("mixture", held_out, tmp_path / "mix", overrides=[f"model.members=[{one},{three}]"])
    assert sum(report["weights"]) == pytest.approx(1, abs=1e-5)
    mix = load(tmp_path / "mix")
    ids = mix.tokenizer.encode("the cat sat on a log")[None]
    parts = [np.exp(load(path).model.score(ids)) for path in (one, three)]
    expected = sum(w * p for w, p in zip(mix.model.weights, parts, strict=True))
    np.testing.assert_allclose(np.exp(mix.model.score(ids)), expected, rtol=1e-5)
    losses = [-np.log(p).mean() for p in (*parts, expected)]
    assert losses[2] <= min(losses[:2]) + 1e-9


def test_members_must_share_their_tokenizer(members, tmp_path):
    one, _, held_out = members
    train("ngram", held_out, tmp_path / "other")
    with pytest.raises(UsageError, match="must predict the same tokens"):
        train("mixture", held_out, tmp_path / "mix", overrides=[f"model.members=[{one},{tmp_path / 'other'}]"])
    with pytest.raises(UsageError, match=r"model.members = \[\], expected two run folders or more"):
        train("mixture", held_out, tmp_path / "mix")
    assert not (tmp_path / "mix").exists()


def test_a_mixture_is_validated_on_the_units_of_its_members(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 9)
    for order in (1, 2):
        train("ngram", text, tmp_path / f"o{order}", overrides=[f"model.order={order}", "text.unit=document"])
    members = f"model.members=[{tmp_path / 'o1'},{tmp_path / 'o2'}]"
    report = train("mixture", text, tmp_path / "mix", valid=text, overrides=[members])
    assert report["valid"]["perplexity"] == pytest.approx(evaluate(tmp_path / "mix", text)["perplexity"])
    assert report["valid"]["units"] == 1
    with pytest.raises(UsageError, match="text.unit = 'line', expected the members' document"):
        train("mixture", text, tmp_path / "other", overrides=[members, "text.unit=line"])


def test_members_may_be_counted_and_neural(tmp_path):
    """One computes in NumPy, the other in torch; scoring, stepping, generating and looking inside agree."""
    from chainrule.inspection.inspect_text import inspect
    from chainrule.verbs.generate import generate

    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 9)
    (tmp_path / "small.yaml").write_text("family: neural\ntokenizer: characters\nmodel: {pattern: sf, width: 16, "
                                         "context: 24}\ntraining: {budget: {steps: 2}, batch: 2, keep: 0}\n")
    train(tmp_path / "small.yaml", text, tmp_path / "neural")
    train("ngram", text, tmp_path / "counted", overrides=["tokenizer=characters", "model.order=3"])
    for names in (["counted", "neural"], ["neural", "counted"]):
        out = tmp_path / "-".join(names)
        members = ",".join(str(tmp_path / name) for name in names)
        train("mixture", text, out, overrides=[f"model.members=[{members}]", "model.weights=[0.5,0.5]"])
        found = inspect(out, text, tokens=12)
        ids = np.array([[each["id"] for each in found["tokens"]]], np.int32)
        parts = [np.exp(np.asarray(each)) for each in found["models"][0]["members"]["log_probs"]]
        np.testing.assert_allclose(np.exp(np.asarray(load(out).model.score(ids))[0]), sum(parts) / 2, rtol=1e-5)
        np.testing.assert_allclose([np.exp(each["log_prob"]) for each in found["tokens"]], sum(parts) / 2, rtol=1e-5)
        assert {"backoff", "attention"} <= {key for model in found["models"] for key in model}
        assert generate(out, "the", max_tokens=5)[0].ids and np.isfinite(evaluate(out, text)["perplexity"])
