"""Mixtures of experts: a loop over tokens, slots in training, the loss that balances, and the same from every path."""

import math

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.feedforwards._experts import from_experts, slots, to_experts
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.training.optimizers._groups import groups
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, N = 3, 7, 6, 5
CLOSE = {"rtol": 1e-5, "atol": 1e-6}  # the router's probabilities are float32


def made(name="mixture_of_experts", **options):
    torch.manual_seed(0)
    options = {"name": name, "experts": N, "capacity": float(N), **options}  # slots for all
    return build("parts/feedforwards", options, Place(D, 2)).double()


def text():
    torch.manual_seed(1)
    return torch.randn(B, T, D, dtype=torch.float64)


def alone(part, e):
    """The e-th expert as a feedforward of its own."""
    name = {"SwiGLU": "swiglu", "GLU": "glu", "MLP": "mlp"}[type(part.experts).__name__]
    biased, hidden = part.experts.outward.bias is not None, part.experts.outward.weight.shape[-1]
    made = build("parts/feedforwards", {"name": name, "hidden": hidden, "bias": biased}, Place(D, 2)).double()
    weights = {key: each[e] if key.endswith("weight") else each[e, 0] for key, each in part.experts.named_parameters()}
    return lambda x: torch.func.functional_call(made, weights, (x[None], None, Reading()))[0][0]


def chosen(part, x):
    """The router's probabilities for one token, and the experts that it passes, the best first."""
    p = (part.router.weight @ x).softmax(0)
    return p, sorted(range(len(p)), key=lambda e: -p[e])[:part.chosen]


def token_by_token(part, x, slots=10**6):
    """y = Σ_{e ∈ top k} g_e f_e(x),   g = p / Σ_{e ∈ top k} p_e, or p in Switch; first choices get slots first."""
    tokens, experts = x.flatten(0, 1), [alone(part, e) for e in range(N)]
    found, taken = [torch.zeros(D, dtype=x.dtype) for _ in tokens], [0] * N
    for rank in range(part.chosen):
        for n, token in enumerate(tokens):
            p, best = chosen(part, token)
            e, total = best[rank], 1 if type(part).__name__ == "Switch" else sum(p[e] for e in best)
            taken[e] += 1
            if taken[e] <= slots:
                found[n] = found[n] + p[e] / total * experts[e](token)
    return torch.stack(found).view_as(x) + sum(each.through(x) for each in getattr(part, "shared", ()))


@pytest.mark.parametrize("expert", ["swiglu", {"name": "mlp", "hidden": 3}])
@pytest.mark.parametrize("count", [1, 2, N])
@torch.no_grad()
def test_it_is_a_loop_over_tokens(count, expert):
    part, x = made(chosen=count, expert=expert), text()
    y, state = part(x, part.start(B, 1, x), Reading())
    torch.testing.assert_close(y, token_by_token(part, x), **CLOSE)
    assert state is None and len({e for row in x.flatten(0, 1) for e in chosen(part, row)[1]}) > 1


@torch.no_grad()
def test_shared_experts_are_passed_by_every_token():
    part, x = made(shared=2), text()
    assert len(part.shared) == 2
    torch.testing.assert_close(part.through(x), token_by_token(part, x), **CLOSE)


@torch.no_grad()
def test_switch_is_a_loop_over_tokens_with_the_probability_as_gate():
    part, x = made("switch", jitter=0.0), text()
    torch.testing.assert_close(part.through(x), token_by_token(part, x), **CLOSE)


@pytest.mark.parametrize(("name", "count"), [("switch", 1), ("mixture_of_experts", 2)])
@pytest.mark.parametrize("capacity", [0.3, 1.0, 1.25])
@torch.no_grad()
def test_in_training_tokens_without_a_slot_pass_by_and_elsewhere_there_are_none(name, count, capacity):
    part, x = made(name, capacity=capacity, **({"jitter": 0.0} if name == "switch" else {})), 3 * text()
    slots = math.ceil(capacity * count * B * T / N)
    wanted = token_by_token(part, x, slots)
    torch.testing.assert_close(part.train().through(x), wanted, **CLOSE)
    everyone = token_by_token(part, x)
    torch.testing.assert_close(part.eval().through(x), everyone, **CLOSE)
    assert (wanted != everyone).any(), "some tokens of this text find no slot"


@torch.no_grad()
def test_outside_training_other_rows_change_nothing_but_in_training_they_may():
    part, x = made("switch", capacity=0.5, jitter=0.0), text()
    crowd = torch.cat([x[:1].expand(4, -1, -1), x[:1] + 0.01])  # all of them want the same experts
    torch.testing.assert_close(part.eval().through(crowd)[-1:], part.through(crowd[-1:]))
    assert not torch.allclose(part.train().through(crowd)[-1:], part.through(crowd[-1:]))


def test_padding_takes_no_slot_and_is_not_balanced():
    part, x, lengths = made("switch", capacity=1.0, jitter=0.0), text(), torch.tensor([T, 3, 0])
    real = torch.arange(T) < lengths[:, None]
    with collected_losses() as padded:
        y, _ = part(x, None, Reading(lengths=lengths))
    other = x.masked_fill(~real[..., None], 7.0)
    with collected_losses() as again:
        torch.testing.assert_close(part(other, None, Reading(lengths=lengths))[0][real], y[real])
    torch.testing.assert_close(padded, again)
    assert not y[~real].any()
    with collected_losses() as without:
        part.through(x[real][None])
    torch.testing.assert_close(padded["balance"], without["balance"])


def test_gradients_are_those_of_the_loop():
    part, x = made(), text()
    weigh, found = torch.randn_like(x), []
    for y_of in (part.through, lambda x: token_by_token(part, x)):
        leaf = x.clone().requires_grad_()
        found.append(torch.autograd.grad((y_of(leaf) * weigh).sum(), [leaf, *part.parameters()]))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


@torch.no_grad()
def test_few_tokens_read_only_the_experts_that_they_pass():
    part, x = made().eval(), text()
    whole = part.through(x)
    assert part._are_few(2) and not part._are_few(3)
    torch.testing.assert_close(part.through(x[:2, 4:5]), whole[:2, 4:5])
    flat, which = x.flatten(0, 1), torch.stack([torch.tensor(chosen(part, row)[1]) for row in x.flatten(0, 1)]).T
    torch.testing.assert_close(part._few(flat, which), part._many(flat, which, None))


@pytest.mark.parametrize("training", [True, False])
def test_it_can_be_compiled_whole_and_gives_the_same(training):
    part, x, found = made("switch", jitter=0.0, capacity=1.0).train(training), text(), []
    for through in (part.through, torch.compile(part.through, backend="aot_eager", fullgraph=True)):
        leaf = x.clone().requires_grad_()
        y = through(leaf)
        found.append((y, *torch.autograd.grad((y * torch.linspace(-1, 1, D)).sum(), [leaf, *part.parameters()])))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def test_a_compiled_network_adds_the_balance_to_its_loss():
    part, x, found = made(balance=0.3), text(), []
    for through in (part.through, torch.compile(part.through, backend="aot_eager")):
        with collected_losses() as losses:
            through(x)
        found.append(torch.autograd.grad(losses["balance"], part.router.weight)[0])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("capacity", [1, 2, 30])
def test_moving_tokens_to_slots_and_back_has_the_gradient_of_finite_differences(capacity):
    torch.manual_seed(2)
    which = torch.randint(N, (2, 7))
    found = slots(which, N, capacity, torch.arange(7) != 3)
    weigh = torch.randn(N, capacity, 1, dtype=torch.float64)

    def there_and_back(x):
        return from_experts(to_experts(x, found, N) * weigh, found)

    x = torch.randn(7, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(there_and_back, (x,))
    taken, y = [0] * N, there_and_back(x)
    for k in range(2):
        for n in range(7):
            e = which[k, n].item()
            kept = n != 3 and taken[e] < capacity
            torch.testing.assert_close(y[k, n], x[n] * weigh[e, taken[e]] if kept else torch.zeros_like(x[n]))
            taken[e] += n != 3


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
    torch.testing.assert_close(part.through(x).flatten(0, 1), part.experts.through(x.flatten(0, 1)[None])[0])


def test_experts_start_as_they_would_alone():
    torch.manual_seed(0)
    mixture, switch = (build("parts/feedforwards", {"name": name, "experts": 2, "expert": "swiglu"}, Place(96, 16))
                       for name in ("mixture_of_experts", "switch"))
    assert mixture.router.weight.std().item() == pytest.approx(96**-0.5, rel=0.15)
    assert switch.router.weight.std().item() == pytest.approx((0.1 / 96) ** 0.5, rel=0.15)
    for part in (mixture, switch):
        assert part.experts.outward.weight[1].std().item() == pytest.approx((256 * 16) ** -0.5, rel=0.05)
    assert not torch.equal(*mixture.experts.outward.weight)


def test_the_router_computes_in_float32_in_mixed_precision_and_trembles_in_training_alone():
    part, x = made("switch", jitter=0.1).float(), text().float()
    with torch.autocast("cpu", torch.bfloat16), watch() as seen:
        part.eval().through(x)
        part.train().through(x)
        part.through(x)
    still, one, other = seen["router"]
    assert still.dtype == torch.float32 and not torch.equal(one, other)
    torch.testing.assert_close(still, (x @ part.router.weight.T).softmax(-1))


def test_tokens_of_a_batch_are_counted_once_for_each_expert_that_they_pass():
    """Twice the slots, twice the FLOPs; parameters of all experts."""
    found = {}
    for capacity in (1.0, 2.0):
        choice = {"name": "switch", "experts": 4, "capacity": capacity, "expert": {"name": "mlp", "bias": False}}
        parts = {part.name: part for part in counted(Shape(pattern="f", width=16, parts={"f": choice}), 11, 32)}
        found[capacity] = parts["switch"]
        assert parts["mlp"].parameters == 4 * 2 * 16 * 64
    router, once = 2 * 16 * 4, 2 * 2 * 16 * 64
    assert [found[c].forward for c in (1.0, 2.0)] == [router + once, router + 2 * once]


def test_biases_of_experts_do_not_decay_and_their_matrices_do():
    part = made("switch")
    with_decay, without = (group["params"] for group in groups(part.named_parameters(), 0.1))
    assert {*map(id, without)} == {id(part.experts.inward.bias), id(part.experts.outward.bias)}
    assert {*map(id, with_decay)} == {*map(id, part.stream_weights())} | {id(part.router.weight)}


@pytest.mark.parametrize(("options", "words"), [
    ({"experts": 0}, "MixtureOfExperts.experts = 0, expected at least 1"),
    ({"capacity": 0.0}, "MixtureOfExperts.capacity = 0.0, expected above 0"),
    ({"shared": -1}, "MixtureOfExperts.shared = -1, expected 0 or more"),
    ({"name": "switch", "jitter": 1.0}, "Switch.jitter = 1.0, expected at least 0 and below 1"),
    ({"expert": "mixture_of_experts"}, "MixtureOfExperts.expert = '.*', expected a feedforward that is made of linear"),
    ({"chosen": 0}, "MixtureOfExperts.chosen = 0, expected 1 to experts = 5"),
    ({"chosen": 6}, "MixtureOfExperts.chosen = 6, expected 1 to experts = 5"),
    ({"balance": -0.1}, "MixtureOfExperts.balance = -0.1, expected 0 or more"),
    ({"expert": {"name": "mlp", "hidden": 0}}, "MLP.hidden = 0, expected at least 1")])
def test_impossible_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)
