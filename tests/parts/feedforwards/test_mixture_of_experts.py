"""A mixture of experts: a loop over tokens, the loss that balances them, and the same from either path."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, N = 3, 7, 6, 5
CLOSE = {"rtol": 1e-5, "atol": 1e-6}  # the router's probabilities are float32


def made(**options):
    torch.manual_seed(0)
    return build("parts/feedforwards", {"name": "mixture_of_experts", "experts": N, **options}, Place(D, 2)).double()


def text():
    torch.manual_seed(1)
    return torch.randn(B, T, D, dtype=torch.float64)


def chosen(part, x):
    """The router's probabilities for one token, and the experts that it passes."""
    p = (part.router.weight @ x).softmax(0)
    return p, sorted(range(len(p)), key=lambda e: -p[e])[:part.chosen]


def token_by_token(part, x):
    """y = Σ_{e ∈ top k} g_e f_e(x),   g = p / Σ_{e ∈ top k} p_e"""
    found = []
    for token in x.flatten(0, 1):
        p, best = chosen(part, token)
        total = sum(p[e] for e in best)
        found.append(sum(p[e] / total * part.experts[e].through(token) for e in best))
    return torch.stack(found).view_as(x)


@pytest.mark.parametrize("expert", ["swiglu", {"name": "mlp", "hidden": 3}])
@pytest.mark.parametrize("count", [1, 2, N])
@torch.no_grad()
def test_it_is_a_loop_over_tokens(count, expert):
    part, x = made(chosen=count, expert=expert), text()
    y, state = part(x, part.start(B, 1, x), Reading())
    torch.testing.assert_close(y, token_by_token(part, x), **CLOSE)
    assert state is None and len({e for row in x.flatten(0, 1) for e in chosen(part, row)[1]}) > 1


def test_gradients_are_those_of_the_loop():
    part, x = made(), text()
    weigh, found = torch.randn_like(x), []
    for y_of in (part.through, lambda x: token_by_token(part, x)):
        leaf = x.clone().requires_grad_()
        found.append(torch.autograd.grad((y_of(leaf) * weigh).sum(), [leaf, *part.parameters()]))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


@torch.no_grad()
def test_every_expert_times_nothing_is_the_chosen_ones_alone():
    part, x = made(), text()
    gates = torch.zeros(B, T, N, dtype=torch.float64)
    for b in range(B):
        for t in range(T):
            p, best = chosen(part, x[b, t])
            gates[b, t, best] = p[best] / p[best].sum()
    dense, sparse = part._all(x, gates), part._chosen(x.flatten(0, 1), gates.flatten(0, 1)).view_as(x)
    torch.testing.assert_close(dense, sparse, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(sparse, part.through(x), **CLOSE)


def test_a_compiler_takes_the_path_that_does_not_look_and_gives_the_same():
    part, x, used = made().eval(), text(), []
    part._chosen = lambda *given: used.append(True)
    compiled = torch.compile(part.through, backend="eager", fullgraph=True)(x)
    del part._chosen
    torch.testing.assert_close(compiled, part.through(x), **CLOSE)
    assert not used


@pytest.mark.parametrize("count", [1, 2])
def test_the_balance_is_its_definition(count):
    """balance · N Σ_e (share of the tokens that go to e) · (mean of p_e)"""
    part, x = made(chosen=count, balance=0.3), text()
    tokens = x.flatten(0, 1)
    went, mean = [0.0] * N, torch.zeros(N, dtype=torch.float64)
    for token in tokens:
        p, best = chosen(part, token)
        mean += p / len(tokens)
        for e in best:
            went[e] += 1 / (count * len(tokens))
    with collected_losses() as found:
        part.through(x)
    assert list(found) == ["balance"]
    wanted = 0.3 * N * sum(share * p for share, p in zip(went, mean, strict=True))
    torch.testing.assert_close(found["balance"].double(), wanted, **CLOSE)


def test_the_balance_is_smallest_where_all_experts_get_as_many():
    """Then each share and each mean is 1/N, and the loss is `balance` itself."""
    part = made(chosen=1, balance=0.5)
    with torch.no_grad():
        part.router.weight.copy_(torch.eye(N, D))
    to_each = 3 * torch.eye(N, D, dtype=torch.float64)
    with collected_losses() as even:
        part.through(to_each[None])
    with collected_losses() as uneven:
        part.through(to_each[[0, 0, 0, 1]][None])
    assert even["balance"].item() == pytest.approx(0.5, rel=1e-6) and uneven["balance"].item() > 0.8


def test_the_balance_is_collected_while_training_alone_and_moves_the_router():
    part, x = made(), text()
    with collected_losses() as outside:
        part.eval().through(x)
    assert outside == {}
    with collected_losses() as found:
        part.train().through(x)
    found["balance"].backward()
    assert part.router.weight.grad.any() and all(each.grad is None for each in part.experts.parameters())
    part.through(x)  # nobody collects: nothing happens


def test_the_sublayers_of_a_stack_add_up():
    torch.manual_seed(0)
    expert = {"name": "mixture_of_experts", "experts": 3, "chosen": 1, "expert": "glu"}
    stack = Stack(Shape(pattern="(sf)*2", width=8, context=9, parts={"f": expert}), 11)
    with collected_losses() as found, watch() as seen:
        stack(torch.arange(8)[None])
    routed = [seen[f"sublayers.{n}/router"][0] for n in (1, 3)]
    assert all(each.shape == (1, 8, 3) for each in routed)
    shares = [(p[0].argmax(-1, keepdim=True) == torch.arange(3)).float().mean(0) for p in routed]
    wanted = [0.01 * 3 * (share * p[0].mean(0)).sum() for share, p in zip(shares, routed, strict=True)]
    torch.testing.assert_close(found["balance"], sum(wanted))


def test_one_expert_is_a_feedforward():
    part, x = made(experts=1, chosen=1, balance=0.0), text()
    torch.testing.assert_close(part.through(x), part.experts[0].through(x))


def test_experts_start_as_they_would_alone():
    torch.manual_seed(0)
    part = build("parts/feedforwards", {"name": "mixture_of_experts", "experts": 2}, Place(96, 16))
    assert part.router.weight.std().item() == pytest.approx(96**-0.5, rel=0.15)
    assert part.experts[1].outward.weight.std().item() == pytest.approx((part.experts[1].hidden * 16) ** -0.5, rel=0.05)


@pytest.mark.parametrize(("options", "words"), [
    ({"experts": 0}, "MixtureOfExperts.experts = 0, expected at least 1"),
    ({"chosen": 0}, "MixtureOfExperts.chosen = 0, expected 1 to experts = 5"),
    ({"chosen": 6}, "MixtureOfExperts.chosen = 6, expected 1 to experts = 5"),
    ({"balance": -0.1}, "MixtureOfExperts.balance = -0.1, expected 0 or more"),
    ({"expert": {"name": "mlp", "hidden": 0}}, "MLP.hidden = 0, expected at least 1")])
def test_impossible_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)
