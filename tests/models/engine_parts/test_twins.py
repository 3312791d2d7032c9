"""Twins of parts on the engine: every declared option gives torch's scores, and missing ones are reported."""

import re
from dataclasses import replace

import numpy as np
import pytest

from chainrule.errors import OptionError, UsageError
from chainrule.models.engine_parts.twin import StandsFor, build_twin, stands_for, twins
from chainrule.models.engine_stack import EngineStack, exported, imported, training_differences
from chainrule.models.shape import Shape
from chainrule.parts.place import Place
from chainrule.recipe.registry import names, options, resolve

torch = pytest.importorskip("torch")
from chainrule.models.stack import Stack  # noqa: E402

torch.set_num_threads(1)
V, TWO = 13, {"name": "attention", "heads": 2}
BASE = Shape("ps", width=12, context=9, head="untied", embedding={"name": "lookup", "deviation": 0.5})
VALUES = {"heads": 3, "bias": None, "gain": 1.7, "forget": 2.5, "size": 3, "hidden": 7, "epsilon": 0.5, "base": 100.0,
          "deviation": 0.7, "rate": 0.3}  # other than the default of any part; a bias is the opposite of its default
FIRST = {"gain", "forget", "deviation"}  # change where weights begin
TAKEN = [(part, option) for part, twin in twins().items() for option in twin.takes]


def changed(part, option):
    kind, _, name = part.rpartition("/")
    usual = resolve(kind, name)[option]
    return not usual if option == "bias" else VALUES[option]


def shape_with(part, **given):
    """A small stack in which the part stands, with these options."""
    kind, _, name = part.rpartition("/")
    choice = {"name": name, **given}
    if kind in ("parts/mixers", "parts/feedforwards"):
        return replace(BASE, parts={"p": choice, "s": TWO})
    return replace(BASE, parts={"p": "lstm", "s": TWO}, **{kind.rpartition("/")[2].removesuffix("s"): choice})


def both(shape):
    """The stack in torch, its weights moved off where they begin, and the same weights on the engine."""
    torch.manual_seed(0)
    theirs = Stack(shape, V).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    ours = EngineStack(shape, V, np.random.default_rng(0)).train(False)
    imported(ours, {key: value.detach().numpy() for key, value in theirs.named_parameters()})
    return theirs, ours


def scores(stack):
    ids = np.random.default_rng(3).integers(V, size=(3, 9))
    model = stack.language_model(0)
    return np.asarray(model.score(ids[:, :-1])), np.asarray(model.log_probs(model.read(model.start(3), ids)))


@pytest.mark.parametrize(("part", "option"), TAKEN)
def test_a_declared_option_gives_the_same_scores_in_torch_and_engine(part, option):
    shape = shape_with(part, **{option: changed(part, option)})
    theirs, ours = both(shape)
    for mine, peer in zip(scores(ours), scores(theirs), strict=True):
        np.testing.assert_allclose(mine, peer, atol=2e-5)
    if option in FIRST or option == "rate":
        return
    usual = EngineStack(shape_with(part), V, np.random.default_rng(0))
    try:
        imported(usual, exported(ours))
    except UsageError:
        return  # the option changes the weights themselves
    assert not np.allclose(scores(usual)[0], scores(ours)[0], atol=1e-3), "the option changes nothing"


@pytest.mark.parametrize(("part", "option"), [each for each in TAKEN if each[1] in FIRST])
def test_initial_weights_have_the_same_distribution_in_torch_and_engine(part, option):
    shape = replace(shape_with(part, **{option: changed(part, option)}), width=48, context=64)
    drawn = exported(EngineStack(shape, 200, np.random.default_rng(0)))
    torch.manual_seed(0)
    own = {name: each.detach().numpy() for name, each in Stack(shape, 200).named_parameters()}
    usual = exported(EngineStack(replace(shape_with(part), width=48, context=64), 200, np.random.default_rng(0)))
    assert drawn.keys() == own.keys() == usual.keys()
    moved = [name for name in drawn if not np.allclose(drawn[name], usual[name])]
    assert moved, "the option changes nothing"
    for name in moved:
        mean, spread = float(own[name].mean()), float(own[name].std())
        assert drawn[name].std() == pytest.approx(spread, rel=0.1, abs=1e-6), name
        assert drawn[name].mean() == pytest.approx(mean, abs=0.1 * spread + 1e-6), name


ONLY = [(part, option, value) for part, twin in twins().items() for option in twin.only
        for value in twin.allowed(option, resolve(*part.rsplit("/", 1)), Place(12))]


@pytest.mark.parametrize(("part", "option", "value"), ONLY, ids=str)
def test_every_value_that_the_engine_has_gives_the_same_scores(part, option, value):
    theirs, ours = both(shape_with(part, **{option: value}))
    for mine, peer in zip(scores(ours), scores(theirs), strict=True):
        np.testing.assert_allclose(mine, peer, atol=2e-5)


@pytest.mark.parametrize(("part", "option"), [(part, option) for part, twin in twins().items()
                                              for option in twin.training if option != "name"])
def test_options_that_only_change_training_give_the_same_scores(part, option):
    value = {"recurrent": "uniform", "spread": 0.3}.get(option, 0.4)  # others are rates
    theirs, ours = both(shape_with(part, **{option: value}))
    for mine, peer in zip(scores(ours), scores(theirs), strict=True):
        np.testing.assert_allclose(mine, peer, atol=2e-5)


def test_a_twin_declares_options_that_its_part_has():
    for part, twin in twins().items():
        kind, _, name = part.rpartition("/")
        assert name in names(kind)
        declared = {*twin.takes, *twin.only, *twin.training} - {"name"}
        assert declared <= {*options(kind, name)}, part
        assert len(declared) == len(twin.takes) + len(twin.only) + len({*twin.training} - {"name"}), "named once"


def test_there_are_twins_of_every_kind_but_not_of_every_part():
    kinds = {"mixers", "feedforwards", "norms", "wirings", "positions", "embeddings", "heads", "dropouts"}
    assert {part.split("/")[1] for part in twins()} == kinds
    assert "parts/mixers/attention" in twins() and "parts/mixers/gated_convolution" not in twins()


LACKING = [
    ({"pattern": "cf"},
     "model.c = 'gated_convolution', expected attention or elman or gru or lstm or ugrnn or window. The engine has"),
    ({"parts": {"s": {"name": "attention", "groups": 1}}},
     "model.s.groups = 1, expected None or 4. The engine has no other."),
    ({"parts": {"s": "sliding_window"}},
     "model.s.attend = {'name': 'sliding_window', 'window': 128}, expected {'name': 'full'}. The engine has no other."),
    ({"parts": {"f": "geglu"}}, "model.f = 'geglu', expected mlp or swiglu. The engine has no other part."),
    ({"parts": {"f": {"name": "mlp", "activation": "identity"}}},
     "model.f.activation = 'identity', expected 'gelu' or 'gelu_tanh' or 'relu' or 'sigmoid' or 'silu' or 'tanh'."),
    ({"pattern": "r", "parts": {"r": {"name": "elman", "activation": "relu"}}},
     "model.r.activation = 'relu', expected 'tanh'. The engine has no other."),
    ({"wiring": "post_norm"}, "model.wiring = 'post_norm', expected plain or pre_norm or residual. The engine has no"),
    ({"position": "alibi"}, "model.position = 'alibi', expected learned or none or rotary. The engine has no other"),
    ({"head": {"name": "tied", "bias": True}}, "model.head.bias = True, expected False. The engine has no other."),
    ({"head": "adaptive"}, "model.head = 'adaptive', expected tied or untied. The engine has no other part."),
    ({"embedding": {"name": "lookup", "scale": "root"}}, "model.embedding.scale = 'root', expected 'one'."),
    ({"parts": {"s": {"name": "attention", "heads": 5}}}, "Attention.heads = 5, expected a divisor of width 12."),
]


@pytest.mark.parametrize(("change", "said"), LACKING)
def test_parts_that_the_engine_lacks_are_reported_in_one_line(change, said):
    with pytest.raises(OptionError, match=re.escape(said)):
        EngineStack(Shape(**{"pattern": "sf", "width": 12, "context": 8, **change}), 11, np.random.default_rng(0))


def test_an_option_that_is_not_listed_has_no_twin(monkeypatch):
    """A part may gain an option; until its twin lists it, even its default is refused."""
    known = twins()["parts/mixers/window"]
    assert "size" in known.takes
    monkeypatch.setitem(twins(), "parts/mixers/window", StandsFor(known.make, ("bias",), {}))
    with pytest.raises(OptionError, match=r"model.w.size = 8, expected a part without this option. The engine has no"):
        EngineStack(Shape("wf", 12, 8), 11, np.random.default_rng(0))


def test_a_twin_is_marked_and_built_by_its_name(monkeypatch):
    monkeypatch.setitem(twins(), "parts/norms/rms", None)  # what stands there comes back afterwards

    @stands_for("parts/norms/rms", takes=("epsilon",))
    class Marked:
        def __init__(self, place, options, random):
            self.given = place.width, options["epsilon"]

    made = build_twin("parts/norms", {"name": "rms", "epsilon": 0.25}, Place(7), np.random.default_rng(0), "model.norm")
    assert type(made) is Marked and made.given == (7, 0.25)


def test_options_that_only_change_training_are_reported():
    parts = {"r": {"name": "elman", "recurrent": "uniform"}, "s": {"name": "attention", "dropout": 0.1}}
    shape = Shape("rs", 12, 8, parts=parts, dropout="variational")
    assert training_differences(shape) == {"model.r.recurrent": "orthogonal", "model.s.dropout": 0.0,
                                        "model.dropout.name": "independent"}
    spread = Shape("rs", 12, 8, parts={"r": {"name": "gru", "spread": 0.1}})
    assert training_differences(spread) == {"model.r.spread": None}
    assert training_differences(Shape("(rsf)*2", 12, 8)) == {}


def test_explicit_defaults_are_accepted():
    parts = {"s": {"name": "attention", "heads": 2, "groups": 2, "attend": "full"},
             "f": {"name": "mlp", "hidden": 48, "activation": "relu"}, "r": {"name": "gru", "directions": 1}}
    stack = EngineStack(Shape("rsf", 12, 8, parts=parts), 11, np.random.default_rng(0))
    assert stack.sublayers[1].body.attend.heads == 2 and stack.sublayers[2].body.inward.weight.shape == (48, 12)
