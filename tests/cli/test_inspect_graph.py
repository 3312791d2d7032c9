"""`chainrule inspect --graph` draws computation graphs, and refuses what it cannot draw in one line."""

import json
from xml.etree import ElementTree

import pytest

from chainrule.cli.app import main


@pytest.fixture
def inspect(tmp_path, capfd, monkeypatch):
    """inspect(words…): what the command prints, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        with pytest.raises(SystemExit) as ended:
            main(["inspect", *words])
        assert (ended.value.code or 0) == code
        return capfd.readouterr()
    return run


def test_a_graph_is_a_table_json_and_a_picture(inspect, tmp_path):
    assert "Multiply  0 1    -2 " in inspect("neuron", "--graph").out
    found = json.loads(inspect("product", "--graph", "--json", "--out", "p.svg").out)
    assert [(node["label"], node["gradient"]) for node in found["nodes"]] == [
        ("x", "-4"), ("y", "-4"), ("Add", "-4"), ("z", "3"), ("Multiply", "1")]
    assert found["edges"] == [[0, 2], [1, 2], [2, 4], [3, 4]]
    ElementTree.parse(tmp_path / "p.svg")
    inspect("product", "--graph", "--out", "p.dot")
    inspect("transformer_block", "--graph", "--out", "p.mmd")
    assert (tmp_path / "p.dot").read_text().startswith("digraph") and "attention.inward.weight" in (
        tmp_path / "p.mmd").read_text()


def test_a_recipe_has_a_graph_too(inspect):
    words = ["engine-transformer", "model.pattern=sf", "model.width=8", "model.s.heads=2", "--graph", "--json"]
    found = json.loads(inspect(*words).out)
    labels = [node["label"] for node in found["nodes"]]
    assert {"embedding.weight", "sublayers.0.body.inward.weight", "SelfAttention", "SoftmaxCrossEntropy"} <= set(labels)
    assert all(node["gradient"] for node in found["nodes"] if node["kind"] == "parameter")


@pytest.mark.parametrize(("words", "said"), [
    (["ngram"], "its family is ngram, whose computation is not the engine's"),
    (["engine-rnn", "model.widht=3"], "Did you mean"),
    (["neuron", "model.width=3"], "model.width=3 changes nothing in the graph of neuron"),
    (["neurn"], "no computation graph or run named 'neurn'. Did you mean 'neuron'?"),
    (["neuron", "product"], "--graph draws one graph, got 2 names"),
    (["neuron", "--out", "x.pdf"], "expected a name that ends in .dot, .mmd, .svg or .png"),
    (["neuron", "--text", "pydoc"], "--text = pydoc is only for the graph of a run; neuron is not a run"),
    (["runs/nothing"], "no computation graph or run named 'runs/nothing'. Known: "),
    (["neuron", "--text-is", "a"], "--text-is = a does nothing with --graph"),
    (["neuron", "--gradients"], "--gradients = True does nothing with --graph"),
])
def test_mistakes_of_graphs_are_reported_in_one_line(inspect, words, said):
    shown = inspect(*words, "--graph", code=2).err
    assert said in shown and shown.count("\n") == 1


def test_a_trained_run_has_the_graph_of_its_loss_on_a_text(inspect, tmp_path):
    import chainrule

    (tmp_path / "text.txt").write_text("the cows eat grass and the dogs eat meat\n" * 8)
    small = ["tokenizer=characters", "model.width=8", "model.context=8", "training.budget.steps=2", "training.batch=2"]
    chainrule.train("engine-rnn", "text.txt", "run", overrides=small)
    found = json.loads(inspect("run", "--graph", "--text", "text.txt", "--json").out)["nodes"]
    assert found[-1]["label"] == "SoftmaxCrossEntropy" and 1 < float(found[-1]["value"]) < 5
    assert all(node["gradient"] for node in found if node["kind"] == "parameter")
    assert not [node for node in found if node["label"] == "Dropout"]  # it is used, not trained
    assert "'model.width=3' cannot change it" in inspect("run", "model.width=3", "--graph", code=2).err


def test_a_run_of_another_family_has_no_graph(inspect, tmp_path):
    import chainrule

    (tmp_path / "text.txt").write_text("the cows eat grass and the dogs eat meat\n" * 8)
    chainrule.train("ngram", "text.txt", "run", overrides=["model.order=2"])
    shown = inspect("run", "--graph", code=2).err
    assert shown.endswith("run: its family is ngram, whose computation is not the engine's.\n")
