"""Attention, to itself and to a source, equals the equation, one query at a time; caches grow and are kept apart."""

import pytest
import torch

from chainrule.errors import OptionError, UsageError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, names
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, S, D, H, E = 2, 7, 5, 12, 3, 4
NOWHERE = build("parts/positions", "none", Place(D, heads=H, context=50))


def made(name="attention", **options):
    torch.manual_seed(0)
    return build("parts/mixers", {"name": name, "heads": H, **options}, Place(D, 2)).double().eval()


def whole(**options):
    """The reading of a whole text."""
    return Reading(position=NOWHERE, **options).from_start(T, torch.device("cpu"))


def by_the_definition(q, k, v, sees):
    """Σ_j softmax_j(q_i·k_j / √E) v_j over the keys j that query i sees; q, k, v are (time, E)."""
    found = []
    for i, query in enumerate(q):
        seen = [j for j in range(len(k)) if sees(i, j)]
        weight = torch.softmax(k[seen] @ query / E**0.5, dim=0)
        found.append(weight @ v[seen])
    return torch.stack(found)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("groups", [3, 1])
def test_attention_is_its_equation(causal, groups):
    mixer, x = made(groups=groups), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, whole(causal=causal))[0]
    for row, found in zip(x, y, strict=True):
        q, k, v = mixer.inward(row).split([H * E, groups * E, groups * E], dim=-1)
        heads = [by_the_definition(q[:, h * E:(h + 1) * E], k[:, g * E:(g + 1) * E], v[:, g * E:(g + 1) * E],
                                   lambda i, j: j <= i or not causal)
                 for h in range(H) for g in [h * groups // H]]
        torch.testing.assert_close(found, mixer.outward(torch.cat(heads, dim=-1)))


def test_cross_attention_is_its_equation():
    mixer, x = made("cross_attention"), torch.randn(B, T, D, dtype=torch.float64)
    source, lengths = torch.randn(B, S, D, dtype=torch.float64), torch.tensor([5, 2])
    y = mixer(x, None, Reading(source=source, source_lengths=lengths))[0]
    for b in range(B):
        q = mixer.query(x[b])
        k, v = mixer.inward(source[b, :lengths[b]]).chunk(2, dim=-1)
        heads = [by_the_definition(*(each[:, h * E:(h + 1) * E] for each in (q, k, v)), lambda i, j: True)
                 for h in range(H)]
        torch.testing.assert_close(y[b], mixer.outward(torch.cat(heads, dim=-1)))


def test_a_source_is_looked_at_once_and_kept():
    mixer, x = made("cross_attention"), torch.randn(B, T, D, dtype=torch.float64)
    reading = Reading(source=torch.randn(B, S, D, dtype=torch.float64), source_lengths=torch.tensor([5, 2]))
    at_once = mixer(x, None, reading)[0]
    first, state = mixer(x[:, :3], mixer.start(B, 1, x), reading)
    rest, _ = mixer(x[:, 3:], state, Reading())  # the source is not given again
    torch.testing.assert_close(torch.cat([first, rest], dim=1), at_once)


def sees_a_source(name):
    """Whether a part says that it can look at another text than its own."""
    part = build("parts/attention", name, Place(D, heads=H, causal=False))
    return part.memory is None and not getattr(part, "within_one_text", False)


@pytest.mark.parametrize("attend", [name for name in names("parts/attention") if sees_a_source(name)])
def test_cross_attention_steps_as_it_reads_with_any_weighting(attend):
    mixer, x = made("cross_attention", attend=attend), torch.randn(B, T, D, dtype=torch.float64)
    reading = Reading(source=torch.randn(B, S, D, dtype=torch.float64))
    at_once, state, found = mixer(x, None, reading.from_start(T, x.device))[0], mixer.start(B, 1, x), []
    for t in range(T):
        y, state = mixer(x[:, t:t + 1], state, reading.after(torch.full((B,), t), 1))
        found.append(y)
    assert at_once.isfinite().all()
    torch.testing.assert_close(torch.cat(found, dim=1), at_once)


@pytest.mark.parametrize("attend", [name for name in names("parts/attention") if not sees_a_source(name)])
def test_an_attention_by_distance_is_refused_for_a_source(attend):
    with pytest.raises(OptionError, match=f"CrossAttention.attend = '{attend}', expected full, or another that"):
        made("cross_attention", attend={"name": attend})


def test_cross_attention_without_a_source_says_so():
    with pytest.raises(UsageError, match="looks at a source, and there is none. Take x out of model.pattern, or"):
        made("cross_attention")(torch.randn(B, T, D, dtype=torch.float64), None, Reading())


def test_watching_shows_weights_that_sum_to_one_and_see_no_future():
    mixer, x = made(), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        mixer(x, None, whole())
    [weight_BHQK] = seen["attention"]
    torch.testing.assert_close(weight_BHQK.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert not weight_BHQK.triu(1).any() and weight_BHQK.tril().any()


def test_padding_gets_no_weight():
    mixer, x = made(), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        mixer(x, None, whole(causal=False, lengths=torch.tensor([7, 4])))
    [weight_BHQK] = seen["attention"]
    assert not weight_BHQK[1, :, :, 4:].any() and weight_BHQK[0].all()


def test_a_cache_doubles_when_it_is_full():
    mixer, x = made(groups=1), torch.randn(B, 1, D, dtype=torch.float64)
    state, rooms = mixer.start(B, 3, x), []
    for read in range(8):
        _, state = mixer(x, state, Reading(position=NOWHERE).after(torch.full((B,), read), 1))
        rooms.append(state.entries.shape[1])
    assert rooms == [3, 3, 3, 6, 6, 6, 12, 12] and state.entries.shape[2] == 2
    assert state.entries[:, :8].any(-1).all() and not state.entries[:, 8:].any()


@pytest.mark.parametrize("name", ["attention", "cross_attention"])
def test_dropout_of_weights_is_for_training_only(name):
    mixer, x = made(name, dropout=0.5), torch.randn(B, T, D, dtype=torch.float64)
    reading = whole(source=x)
    torch.testing.assert_close(mixer(x, None, reading)[0], made(name)(x, None, reading)[0])
    mixer.train()
    assert not torch.allclose(mixer(x, None, reading)[0], mixer(x, None, reading)[0])
    with watch():
        assert not torch.allclose(mixer(x, None, reading)[0], mixer(x, None, reading)[0])


@pytest.mark.parametrize(("options", "words"), [
    ({"heads": 5}, "Attention.heads = 5, expected a divisor of width 12."),
    ({"groups": 2}, "Attention.groups = 2, expected a divisor of heads 3."),
    ({"groups": 0}, "Attention.groups = 0, expected a divisor of heads 3."),
    ({"dropout": 1.0}, "Attention.dropout = 1.0, expected at least 0 and less than 1.")])
def test_impossible_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)


def test_a_norm_of_queries_and_keys_makes_their_size_unimportant():
    mixer, x = made(qk_norm="rms"), torch.randn(B, T, D, dtype=torch.float64)
    y = mixer(x, None, whole())[0]
    with torch.no_grad():
        mixer.inward.weight[:2 * D] *= 9.0
    torch.testing.assert_close(mixer(x, None, whole())[0], y, atol=1e-4, rtol=0)  # but for ε


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_normed_queries_and_keys_are_the_equation(norm):
    """y_i = Σ_j softmax_j(n(q_i)·n′(k_j) / √E) v_j, with one norm for all heads."""
    mixer, x = made(qk_norm=norm), torch.randn(B, T, D, dtype=torch.float64)
    with torch.no_grad():
        for parameter in mixer.norms.parameters():
            parameter.add_(torch.randn_like(parameter))
    y = mixer(x, None, whole())[0]
    for row, found in zip(x, y, strict=True):
        q, k, v = (each.view(T, H, E) for each in mixer.inward(row).chunk(3, dim=-1))
        q, k = mixer.norms[0](q), mixer.norms[1](k)
        heads = [by_the_definition(q[:, h], k[:, h], v[:, h], lambda i, j: j <= i) for h in range(H)]
        torch.testing.assert_close(found, mixer.outward(torch.cat(heads, dim=-1)))


@pytest.mark.parametrize("position", ["none", "rotary"])
@pytest.mark.parametrize("name", ["attention", "cross_attention"])
def test_normed_attention_steps_as_it_reads(name, position):
    mixer, x = made(name, qk_norm="rms"), torch.randn(B, T, D, dtype=torch.float64)
    where = build("parts/positions", position, Place(D, heads=H, context=50)).double()
    reading = Reading(position=where, source=torch.randn(B, S, D, dtype=torch.float64))
    at_once, state, found = mixer(x, None, reading.from_start(T, x.device))[0], mixer.start(B, 1, x), []
    plain = made(name)(x, None, reading.from_start(T, x.device))[0]
    for t in range(T):
        y, state = mixer(x[:, t:t + 1], state, reading.after(torch.full((B,), t), 1))
        found.append(y)
    torch.testing.assert_close(torch.cat(found, dim=1), at_once)
    assert not torch.allclose(at_once, plain)
