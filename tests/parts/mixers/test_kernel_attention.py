"""Linear attention and Performer: loops from their equations, chunks, states of fixed size, softmax on average."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.mixers._kernel_attention import LEAST, causally
from chainrule.parts.mixers.performer import orthogonal
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, D, H, E = 2, 9, 12, 3, 4
both = pytest.mark.parametrize("name", ["linear_attention", "performer"])
ways = pytest.mark.parametrize("causal", [True, False])


def made(name, causal=True, **options):
    torch.manual_seed(0)
    return build("parts/mixers", {"name": name, "heads": H, **options}, Place(D, 2, causal=causal)).double().eval()


def reading_of(causal=True, position="none", **more):
    where = build("parts/positions", position, Place(D, heads=H, context=300))
    return Reading(causal, position=where, **more)


def text(time=T):
    torch.manual_seed(1)
    return torch.randn(B, time, D, dtype=torch.float64)


def features(mixer, x):
    """φ of one vector, from the equations."""
    if not hasattr(mixer, "directions"):
        return torch.where(x > 0, x + 1, x.exp())
    x, w = x / E**0.25, mixer.directions.double()
    return torch.stack([torch.exp(each @ x - x @ x / 2) for each in w]) / len(w)**0.5


def by_the_definition(mixer, x, causal, lengths):
    y = torch.zeros_like(x)
    for b, length in enumerate(lengths):
        q, k, v = (each.view(-1, H, E) for each in mixer.inward(x[b]).chunk(3, dim=-1))
        for h in range(H):
            for i in range(x.shape[1]):
                seen = range(i + 1) if causal else range(length)
                weight = [features(mixer, q[i, h]) @ features(mixer, k[j, h]) for j in seen]
                y[b, i, h * E:(h + 1) * E] = sum(w * v[j, h] for w, j in zip(weight, seen, strict=True)) / sum(weight)
    return mixer.outward(y)


@both
@ways
@torch.no_grad()
def test_it_is_its_equation(name, causal):
    mixer, x, lengths = made(name, causal), text(), [T, 5]
    reading = reading_of(causal, lengths=torch.tensor(lengths)).from_start(T, x.device)
    found, wanted = mixer(x, None, reading)[0], by_the_definition(mixer, x, causal, lengths)
    for b, length in enumerate(lengths):
        torch.testing.assert_close(found[b, :length], wanted[b, :length], atol=3e-5, rtol=0)  # but for LEAST


@pytest.mark.parametrize("chunk", [1, 2, 4, 100])
@pytest.mark.parametrize("before", [True, False])
def test_chunks_of_any_size_give_the_same_with_gradients(chunk, before):
    torch.manual_seed(0)
    q, k, v = (torch.rand(B, H, T, size, dtype=torch.float64, requires_grad=True) for size in (5, 5, 3))
    sums = torch.rand(B, H, 5, 3, dtype=torch.float64) if before else None
    y, total = causally(q, k, v, sums, chunk)
    wanted = torch.stack([sum((q[:, :, i] * k[:, :, j]).sum(-1, keepdim=True) * v[:, :, j] for j in range(i + 1))
                          for i in range(T)], dim=2)
    of_all = torch.einsum("bhtf,bhte->bhfe", k, v)
    if sums is not None:
        wanted, of_all = wanted + q @ sums, of_all + sums
    torch.testing.assert_close(y, wanted)
    torch.testing.assert_close(total, of_all)
    weigh = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    for one, other in zip(*(torch.autograd.grad((each * weigh).sum(), [q, k, v]) for each in (y, wanted)), strict=True):
        torch.testing.assert_close(one, other)


@both
@pytest.mark.parametrize("position", ["none", "rotary"])
@torch.no_grad()
def test_a_text_of_many_chunks_is_read_token_by_token_with_a_state_of_fixed_size(name, position):
    mixer, x, reading = made(name), text(150), reading_of(position=position)
    state, found = mixer.start(B, 1, x), []
    for t in range(150):
        y, state = mixer(x[:, t:t + 1], state, reading.after(torch.full((B,), t), 1))
        found.append(y)
    torch.testing.assert_close(torch.cat(found, dim=1), mixer(x, None, reading.from_start(150, x.device))[0])
    assert state.total.shape == (B, H, mixer.width_of_features, E + 1) and not getattr(mixer, "bounded", False)


@both
@torch.no_grad()
def test_nothing_has_a_matrix_for_each_token(name):
    mixer, x, sizes, time = made(name), text(1024)[:1], [], 1024

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            sizes.append(made.numel() if torch.is_tensor(made) else 0)
            return made

    with Sizes():
        mixer(x, None, reading_of().from_start(time, x.device))
    assert max(sizes) <= H * time * 64 < H * time * time


def test_half_precision_keeps_exact_sums():
    mixer = made("linear_attention").bfloat16()
    x = text(40).bfloat16()
    y, state = mixer(x, mixer.start(B, 1, x), reading_of().from_start(40, x.device))
    assert y.dtype == torch.bfloat16 and state.total.dtype == torch.float32


@torch.no_grad()
def test_many_random_features_are_softmax_attention():
    """FAVOR+ is unbiased: the error falls with the number of features."""
    x, errors = text() / 2, []
    full = build("parts/mixers", {"name": "attention", "heads": H}, Place(D, 2)).double()
    for count in (8, 8000):
        mixer = made("performer", features=count)
        full.load_state_dict(mixer.state_dict())
        reading = reading_of().from_start(T, x.device)
        errors.append((mixer(x, None, reading)[0] - full(x, None, reading)[0]).abs().mean().item())
    assert errors[1] < 0.003 < 0.02 < errors[0]


def test_directions_are_orthogonal_in_blocks_as_long_as_random_ones_and_of_no_preferred_sign():
    w = orthogonal(2000, 8, 3)
    products = (w.view(-1, 8, 8) @ w.view(-1, 8, 8).transpose(1, 2)).clone()
    products.diagonal(dim1=1, dim2=2).zero_()
    assert products.abs().max() < 1e-4
    assert w.square().sum(-1).mean().item() == pytest.approx(8, rel=0.05)
    assert w.mean(0).abs().max() < 0.1
    assert torch.equal(w, orthogonal(2000, 8, 3)) and not torch.equal(w, orthogonal(2000, 8, 4))


def test_directions_differ_by_sublayer_and_come_to_a_model_that_was_made_without_numbers():
    one, other = (build("parts/mixers", "performer", Place(D, index=n)) for n in (0, 2))
    assert not torch.equal(one.directions, other.directions)
    with torch.device("meta"):
        empty = build("parts/mixers", "performer", Place(D))
    assert torch.equal(empty.to_empty(device="cpu").directions, one.directions)


@both
@ways
def test_watching_shows_the_weights_that_are_never_made(name, causal):
    mixer, x = made(name, causal), text()
    with watch() as seen:
        mixer(x, None, reading_of(causal).from_start(T, x.device))
    [weight] = seen["attention"]
    torch.testing.assert_close(weight.sum(-1), torch.ones(B, H, T, dtype=x.dtype), atol=10 * LEAST, rtol=0)
    assert (weight >= 0).all() and bool(weight.triu(1).any()) != causal


@both
def test_positions_that_add_to_scores_are_refused(name):
    mixer, x = made(name), text()
    with pytest.raises(OptionError, match=f"model.position = 'alibi', expected rotary.*{name} has no score for each"):
        mixer(x, None, reading_of(position="alibi").from_start(T, x.device))


@pytest.mark.parametrize(("name", "options", "words"), [
    ("performer", {"features": 0}, "Performer.features = 0, expected at least 1"),
    ("linear_attention", {"heads": 5}, "LinearAttention.heads = 5, expected a divisor of width 12.")])
def test_impossible_options_are_refused(name, options, words):
    with pytest.raises(OptionError, match=words):
        made(name, **options)
