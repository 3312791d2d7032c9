"""`chainrule.watch` shows attention, gates and hidden states of every layer of a trained run, by the usual verbs."""

import pytest
import torch

import chainrule

RECIPE = """
family: neural
tokenizer: characters
model: {pattern: PATTERN, width: 16, context: 24, r: MIXER, s: {name: attention, heads: 2}}
training: {budget: {steps: 3}, batch: 2, keep: 0}
"""
LINE = "the cat sat"
KINDS = {  # pattern, the recurrent part, and what each of its mixing layers must show
    "attention": ("(sf)*2", "lstm", {0: {"attention"}, 2: {"attention"}}),
    "gates of an LSTM": ("rr", "lstm", dict.fromkeys((0, 1), {"input_gate", "forget_gate", "output_gate", "cell"})),
    "gates of a GRU": ("rr", "gru", dict.fromkeys((0, 1), {"reset_gate", "update_gate", "hidden"})),
    "hidden states": ("rr", "elman", dict.fromkeys((0, 1), {"hidden"})),
    "a hybrid": ("(rs)*2", "ugrnn", {0: {"hidden"}, 1: {"attention"}, 2: {"hidden"}, 3: {"attention"}}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_of_a_trained_run_can_be_watched(kind, tmp_path):
    torch.set_num_threads(1)
    pattern, mixer, wanted = KINDS[kind]
    (tmp_path / "recipe.yaml").write_text(RECIPE.replace("PATTERN", pattern).replace("MIXER", mixer))
    (tmp_path / "text.txt").write_text("the cat sat on the mat.\n" * 20)
    chainrule.train(tmp_path / "recipe.yaml", tmp_path / "text.txt", tmp_path / "run")
    run = chainrule.load(tmp_path / "run")
    unseen = chainrule.score(run, [LINE])
    with chainrule.watch() as seen:
        log_p = chainrule.score(run, [LINE])
    assert log_p == pytest.approx(unseen, rel=1e-4)
    for layer, names in wanted.items():
        assert {f"sublayers.{layer}/{name}" for name in {*names, "output"}} <= set(seen)
        for name in names - {"attention"}:
            value = seen[f"sublayers.{layer}/{name}"][-1]
            assert value.shape[-1] == 16 and value.shape[1] >= len(LINE) and value.abs().sum() > 0
            assert "gate" not in name or ((value > 0) & (value < 1)).all()
        if "attention" in names:
            weights = seen[f"sublayers.{layer}/attention"][-1]
            torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))


def test_generating_shows_the_attention_of_each_token(tmp_path):
    pattern, mixer, _ = KINDS["attention"]
    (tmp_path / "recipe.yaml").write_text(RECIPE.replace("PATTERN", pattern).replace("MIXER", mixer))
    (tmp_path / "text.txt").write_text("the cat sat on the mat.\n" * 20)
    chainrule.train(tmp_path / "recipe.yaml", tmp_path / "text.txt", tmp_path / "run")
    run = chainrule.load(tmp_path / "run")
    with torch.inference_mode():
        state = run.model.start(1)
        with chainrule.watch() as seen:
            for id in (3, 4, 5):
                state = run.model.advance(state, torch.tensor([id]))
    assert [weights.shape[-1] for weights in seen["sublayers.2/attention"]] == [2, 3, 4]  # <s> comes first
