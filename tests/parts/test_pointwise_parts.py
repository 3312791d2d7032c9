"""Feedforwards, norms, embeddings and heads equal their equations and start as they say."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.feedforwards import mlp
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.problems import Problems
from chainrule.recipe.registry import build, names

torch.set_num_threads(1)
B, T, D, F = 2, 3, 5, 7
PLACE = Place(D)
GATES = {"glu": lambda a: 1 / (1 + math.exp(-a)), "reglu": lambda a: max(a, 0.0),
         "geglu": lambda a: a * (1 + math.erf(a / math.sqrt(2))) / 2, "swiglu": lambda a: a / (1 + math.exp(-a)),
         "liglu": lambda a: a}
ACTIVATIONS = {"relu": GATES["reglu"], "gelu": GATES["geglu"], "silu": GATES["swiglu"], "tanh": math.tanh,
               "sigmoid": GATES["glu"], "relu_squared": lambda a: max(a, 0.0) ** 2, "identity": lambda a: a,
               "gelu_tanh": lambda a: a / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))),
               "elu": lambda a: a if a > 0 else math.exp(a) - 1,
               "selu": lambda a: 1.0507009873554805 * (a if a > 0 else 1.6732632423543772 * (math.exp(a) - 1)),
               "softplus": lambda a: math.log(1 + math.exp(a))}


def made(kind, name, place=PLACE, **options):
    torch.manual_seed(0)
    part = build(f"parts/{kind}", {"name": name, **options}, place).double()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return part


@pytest.mark.parametrize("name", GATES)
def test_a_gated_feedforward_is_its_equation(name):
    part, x = made("feedforwards", name, hidden=F, bias=True), torch.randn(D, dtype=torch.float64)
    (W, V), (b, c) = part.inward.weight.chunk(2), part.inward.bias.chunk(2)
    through = torch.tensor([GATES[name](a) for a in (W @ x + b).tolist()], dtype=torch.float64)
    torch.testing.assert_close(part.through(x), part.outward.weight @ (through * (V @ x + c)) + part.outward.bias)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_mlp_is_its_equation(activation):
    part = made("feedforwards", "mlp", hidden=F, activation=activation)
    x = torch.randn(D, dtype=torch.float64)
    inner = [ACTIVATIONS[activation](a) for a in (part.inward.weight @ x + part.inward.bias).tolist()]
    wanted = part.outward.weight @ torch.tensor(inner, dtype=torch.float64) + part.outward.bias
    torch.testing.assert_close(part.through(x), wanted)


def test_every_activation_has_its_equation_here():
    assert ACTIVATIONS.keys() == mlp.ACTIVATIONS.keys()


@pytest.mark.parametrize("name", sorted({*names("parts/feedforwards")} - {"mixture_of_experts", "switch"}))
def test_a_feedforward_is_called_as_mixers_are_and_remembers_nothing(name):
    part, x = made("feedforwards", name), torch.randn(B, T, D, dtype=torch.float64)
    y, state = part(x, part.start(B, 1, x), Reading())
    assert state is None and torch.equal(y, part.through(x))
    torch.testing.assert_close(y[1, 2], part.through(x[1, 2]))  # one position at a time


def test_hidden_widths_are_such_that_gated_and_plain_have_as_many_weights():
    for width in (48, 96, 384):
        plain, gated = (sum(p.numel() for p in build("parts/feedforwards", choice, Place(width)).parameters())
                        for choice in ({"name": "mlp", "bias": False}, "swiglu"))
        assert plain == gated == 8 * width**2
    assert [build("parts/feedforwards", "swiglu", Place(width)).hidden for width in (1, 64, 128)] == [8, 168, 344]


@pytest.mark.parametrize("name", ["mlp", "swiglu"])
def test_a_feedforward_starts_smaller_in_a_deeper_stack(name):
    torch.manual_seed(0)
    shallow, deep = (build("parts/feedforwards", name, Place(96, depth)) for depth in (1, 16))
    assert shallow.inward.weight.std().item() == pytest.approx(96**-0.5, rel=0.05)
    hidden = shallow.outward.in_features
    assert shallow.outward.weight.std().item() == pytest.approx(hidden**-0.5, rel=0.05)
    assert deep.outward.weight.std().item() == pytest.approx((hidden * 16) ** -0.5, rel=0.05)
    assert deep.inward.weight.std().item() == pytest.approx(96**-0.5, rel=0.05)


def test_layer_norm_takes_the_variance_of_all_numbers():
    """On [1, 0, 0, 0] the first number becomes 0.75 / √(3/16) = 1.73; with n − 1 it would be 1.50."""
    norm = build("parts/norms", "layer", Place(4))
    x = torch.tensor([1.0, 0, 0, 0])
    torch.testing.assert_close(norm(x), torch.tensor([3.0, -1, -1, -1]) / 3**0.5, atol=1e-3, rtol=0)
    trained = made("norms", "layer")
    x = torch.randn(D, dtype=torch.float64)
    mean = x.sum() / D
    variance = ((x - mean) ** 2).sum() / D
    torch.testing.assert_close(trained(x), trained.gain * (x - mean) / (variance + 1e-5).sqrt() + trained.bias)


def test_rms_norm_leaves_the_mean_alone():
    norm, x = made("norms", "rms"), torch.randn(D, dtype=torch.float64)
    torch.testing.assert_close(norm(x), norm.gain * x / ((x * x).sum() / D + 1e-6).sqrt())


def test_scale_norm_gives_vectors_one_length():
    norm, x = made("norms", "scale"), torch.randn(B, T, D, dtype=torch.float64)
    torch.testing.assert_close(norm(x), norm.gain * x / (x * x).sum(-1, keepdim=True).sqrt())
    torch.testing.assert_close(norm(0 * x), 0 * x)
    assert build("parts/norms", "scale", Place(D)).gain.item() == pytest.approx(D**0.5)


def test_dynamic_tanh_squashes_each_number_by_itself():
    norm, x = made("norms", "dynamic_tanh"), torch.randn(D, dtype=torch.float64)
    for d in range(D):
        squashed = math.tanh(norm.slope.item() * x[d].item())
        assert norm(x)[d].item() == pytest.approx(norm.gain[d].item() * squashed + norm.bias[d].item(), rel=1e-12)
    assert build("parts/norms", {"name": "dynamic_tanh", "slope": 0.3}, Place(D)).slope.item() == pytest.approx(0.3)


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D)])
def test_rms_norm_has_the_gradient_of_torchs_own(shape):
    norm, x = made("norms", "rms"), torch.randn(shape, dtype=torch.float64, requires_grad=True)
    torch_x, torch_gain = (each.detach().clone().requires_grad_() for each in (x, norm.gain))
    weigh = torch.randn_like(x)
    ours, torchs = norm(x), torch.nn.functional.rms_norm(torch_x, (D,), torch_gain, norm.epsilon)
    (ours * weigh).sum().backward()
    (torchs * weigh).sum().backward()
    for one, other in ((ours, torchs), (x.grad, torch_x.grad), (norm.gain.grad, torch_gain.grad)):
        torch.testing.assert_close(one, other)
    assert torch.autograd.gradcheck(lambda x, gain: torch.func.functional_call(norm, {"gain": gain}, (x,)),
                                    (x, norm.gain))


def test_embeddings_can_be_multiplied_by_the_root_of_the_width():
    plain, scaled = (made("embeddings", "lookup", Place(D, vocabulary=11), scale=scale) for scale in ("one", "root"))
    ids = torch.tensor([[3, 10, 0]])
    torch.testing.assert_close(plain(ids)[0], plain.weight[[3, 10, 0]])
    torch.testing.assert_close(scaled(ids), plain(ids) * D**0.5)
    with pytest.raises(Problems, match="lookup.scale = 'two', expected one of 'one', 'root'"):
        build("parts/embeddings", {"name": "lookup", "scale": "two"}, Place(D, vocabulary=11))


def test_a_tied_head_shares_the_embedding_and_an_untied_one_does_not():
    place = Place(D, vocabulary=11, outputs=11)
    embedding = build("parts/embeddings", "lookup", place)
    tied, untied = (build("parts/heads", name, place, embedding) for name in ("tied", "untied"))
    x = torch.randn(B, T, D)
    assert tied.weight is embedding.weight and untied.weight is not embedding.weight
    torch.testing.assert_close(tied.scores(x), x @ embedding.weight.T)
    torch.testing.assert_close(untied.scores(x), x @ untied.weight.T)


@pytest.mark.parametrize("name", ["tied", "untied"])
def test_a_softmax_head_is_its_equation(name):
    """ln p(w | h) = (W h + b)_w − ln Σ_v exp (W h + b)_v, and the loss is the sum of what is wanted."""
    place = Place(D, vocabulary=4, outputs=4)
    embedding = build("parts/embeddings", "lookup", place).double()
    torch.manual_seed(0)
    head = build("parts/heads", {"name": name, "bias": True}, place, embedding).double()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(torch.randn_like(parameter))
    hidden, wanted = torch.randn(3, D, dtype=torch.float64), [2, 0, 2]
    log_p = head.log_probs(hidden)
    for h, found in zip(hidden, log_p, strict=True):
        scores = [(row @ h + bias).item() for row, bias in zip(head.weight, head.bias, strict=True)]
        total = sum(math.exp(each) for each in scores)
        assert found.tolist() == pytest.approx([each - math.log(total) for each in scores], rel=1e-12)
    loss = -sum(row[each].item() for row, each in zip(log_p, wanted, strict=True))
    assert head.loss(hidden, torch.tensor(wanted)).item() == pytest.approx(loss, rel=1e-12)
    without = head.log_probs(hidden, never=(2,)).exp()
    torch.testing.assert_close(without[:, [0, 1, 3]], log_p.exp()[:, [0, 1, 3]] / (1 - log_p.exp()[:, 2:3]))
    assert not without[:, 2].any()


def test_a_head_is_not_tied_to_a_table_of_another_size():
    embedding = build("parts/embeddings", "lookup", Place(D, vocabulary=11))
    for outputs, table in ((12, embedding), (11, torch.nn.Identity())):
        with pytest.raises(OptionError, match=r"model.head = 'tied', expected 'untied' here. The outputs are not"):
            build("parts/heads", "tied", Place(D, vocabulary=11, outputs=outputs), table)


@pytest.mark.parametrize(("choice", "words"), [
    ({"name": "mlp", "hidden": 0}, "MLP.hidden = 0, expected at least 1"),
    ({"name": "mlp", "activation": "rellu"}, "MLP.activation = 'rellu', expected an activation. Did you mean 'relu'"),
    ({"name": "geglu", "hidden": -3}, "GEGLU.hidden = -3, expected at least 1")])
def test_a_feedforward_with_impossible_options_is_refused(choice, words):
    with pytest.raises(OptionError, match=words):
        build("parts/feedforwards", choice, Place(D))
