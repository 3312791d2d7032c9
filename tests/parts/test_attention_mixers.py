"""Attention, to itself and to a source, equals the equation, one query at a time; caches grow and are kept apart."""

import pytest
import torch

from chainrule.errors import OptionError, UsageError
from chainrule.parts.state import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, S, D, H, E = 2, 7, 5, 12, 3, 4
NOWHERE = build("parts/positions", "none", D, H, 50)


def made(name="attention", **options):
    torch.manual_seed(0)
    return build("parts/mixers", {"name": name, "heads": H, **options}, D, 2).double().eval()


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
    y = mixer(x, None, Reading(causal, position=NOWHERE))[0]
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
    told = Reading(source=torch.randn(B, S, D, dtype=torch.float64), source_lengths=torch.tensor([5, 2]))
    whole = mixer(x, None, told)[0]
    first, state = mixer(x[:, :3], mixer.start(B, 1, x), told)
    rest, _ = mixer(x[:, 3:], state, Reading())  # nobody tells of the source any more
    torch.testing.assert_close(torch.cat([first, rest], dim=1), whole)


def test_cross_attention_without_a_source_says_so():
    with pytest.raises(UsageError, match="no source to look at. Take x out of model.pattern, or choose a task"):
        made("cross_attention")(torch.randn(B, T, D, dtype=torch.float64), None, Reading())


def test_watching_shows_weights_that_sum_to_one_and_see_no_future():
    mixer, x = made(), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        mixer(x, None, Reading(position=NOWHERE))
    [weight_BHQK] = seen["attention"]
    torch.testing.assert_close(weight_BHQK.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert not weight_BHQK.triu(1).any() and weight_BHQK.tril().any()


def test_padding_gets_no_weight():
    mixer, x = made(), torch.randn(B, T, D, dtype=torch.float64)
    with watch() as seen:
        mixer(x, None, Reading(causal=False, lengths=torch.tensor([7, 4]), position=NOWHERE))
    [weight_BHQK] = seen["attention"]
    assert not weight_BHQK[1, :, :, 4:].any() and weight_BHQK[0].all()


def test_a_cache_doubles_when_it_is_full():
    mixer, x = made(groups=1), torch.randn(B, 1, D, dtype=torch.float64)
    state, rooms = mixer.start(B, 3, x), []
    for _ in range(8):
        _, state = mixer(x, state, Reading(position=NOWHERE))
        rooms.append(state.keys.shape[2])
    assert rooms == [3, 3, 3, 6, 6, 6, 12, 12] and state.length == 8 and state.keys.shape[1] == 1


@pytest.mark.parametrize("name", ["attention", "cross_attention"])
def test_dropout_of_weights_is_for_training_only(name):
    mixer, x = made(name, dropout=0.5), torch.randn(B, T, D, dtype=torch.float64)
    told = Reading(position=NOWHERE, source=x)
    torch.testing.assert_close(mixer(x, None, told)[0], made(name)(x, None, told)[0])
    mixer.train()
    assert not torch.allclose(mixer(x, None, told)[0], mixer(x, None, told)[0])
    with watch():
        assert not torch.allclose(mixer(x, None, told)[0], mixer(x, None, told)[0])


@pytest.mark.parametrize(("options", "words"), [
    ({"heads": 5}, "Attention.heads = 5, expected a divisor of width 12."),
    ({"groups": 2}, "Attention.groups = 2, expected a divisor of heads 3."),
    ({"groups": 0}, "Attention.groups = 0, expected a divisor of heads 3."),
    ({"dropout": 1.0}, "Attention.dropout = 1.0, expected at least 0 and less than 1.")])
def test_options_that_cannot_be_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)
