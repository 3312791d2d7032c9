"""Synthesizers equal their equations, alone, with dot products added, and mixed with them."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build, names

torch.set_num_threads(1)
B, H, T, E, CONTEXT = 2, 3, 7, 5, 11
WHERE = torch.arange(T)[None]
ALL = ["synthesizer_dense", "synthesizer_factorized", "synthesizer_random", "synthesizer_factorized_random"]
every = pytest.mark.parametrize("name", ALL)
dots = pytest.mark.parametrize("dot", ["none", "plus", "plus_alpha"])


def made(name, dot="none", causal=True, **options):
    torch.manual_seed(0)
    place = Place(H * E, heads=H, context=CONTEXT, causal=causal)
    part = build("parts/attention", {"name": name, "dot": dot, **options}, place).double().eval()
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return part


def inputs():
    torch.manual_seed(1)
    return torch.randn(3, B, H, T, E, dtype=torch.float64).unbind(0)


def synthetic(name, part, h, query, i, j):
    """The score of one query and one key, from the paper's equations."""
    if name == "synthesizer_dense":
        return part.weight[h, :, j] @ query.relu() + part.bias[h, j]
    if name == "synthesizer_factorized":
        return (part.within[h, :, j % part.rows] @ query) * (part.of_row[h, :, j // part.rows] @ query)
    if name == "synthesizer_random":
        return part.weight[h, i, j]
    return part.of_query[h, i] @ part.of_key[h, j]


def mixed(part, own, product):
    if part.dot == "plus_alpha":
        alpha = torch.sigmoid(part.alpha)
        return alpha * own + (1 - alpha) * product
    return own + product if part.dot == "plus" else own


def by_the_definition(name, part, q, k, v, q_pos, causal=True):
    y = torch.zeros(B, H, q_pos.shape[1], E, dtype=v.dtype)
    for b in range(B):
        for h in range(H):
            for n, i in enumerate(q_pos[b].tolist()):
                seen = range(i + 1) if causal else range(T)
                score = [mixed(part, synthetic(name, part, h, q[b, h, n], i, j), q[b, h, n] @ k[b, h, j] / E**0.5)
                         for j in seen]
                y[b, h, n] = torch.stack(score).softmax(0) @ v[b, h, list(seen)]
    return y


@every
@dots
@pytest.mark.parametrize("causal", [True, False])
@torch.no_grad()
def test_a_whole_text_agrees_with_the_definition(name, dot, causal):
    part, (q, k, v) = made(name, dot, causal), inputs()
    found = part(q, k, v, WHERE, WHERE, Reading(causal, positions=WHERE))
    torch.testing.assert_close(found, by_the_definition(name, part, q, k, v, WHERE.expand(B, T), causal))


@every
@torch.no_grad()
def test_queries_and_keys_at_places_of_their_own_agree_with_it_too(name):
    part, (q, k, v), q_pos = made(name, "plus"), inputs(), torch.tensor([[5], [2]])
    for k_pos in (WHERE, WHERE.repeat(B, 1)):
        found = part(q[:, :, :1], k, v, q_pos, k_pos, Reading(positions=q_pos, even=False))
        torch.testing.assert_close(found, by_the_definition(name, part, q[:, :, :1], k, v, q_pos))


@pytest.mark.parametrize(("name", "vectors"), [("synthesizer_dense", 2), ("synthesizer_factorized", 2),
                                               ("synthesizer_random", 1), ("synthesizer_factorized_random", 1)])
def test_there_is_no_map_to_queries_or_keys_that_are_not_used(name, vectors):
    place = Place(H * E, heads=H, context=CONTEXT)
    for dot, wanted in (("none", vectors), ("plus", 3), ("plus_alpha", 3)):
        mixer = build("parts/mixers", {"name": "attention", "heads": H, "attend": {"name": name, "dot": dot}}, place)
        assert mixer.inward.weight.shape == (wanted * H * E, H * E)
        assert mixer.start(B, 4, torch.zeros(1)).entries.shape == (B, 4, H if dot == "none" else 2 * H, E)
        assert [len(each) for each in mixer.stream_weights()] == [H * E, H * E]


def test_a_mixture_starts_with_equal_shares():
    part = build("parts/attention", {"name": "synthesizer_random", "dot": "plus_alpha"}, Place(H * E, heads=H))
    assert part.alpha.sigmoid().item() == 0.5


@every
def test_a_source_has_other_places(name):
    with pytest.raises(OptionError, match=f"CrossAttention.attend = '{name}', expected full, or another that"):
        build("parts/mixers", {"name": "cross_attention", "heads": H, "attend": name}, Place(H * E))


def test_a_norm_of_queries_that_are_not_compared_is_refused():
    choice = {"name": "attention", "heads": H, "attend": "synthesizer_dense", "qk_norm": "rms"}
    with pytest.raises(OptionError, match="Attention.qk_norm = 'rms', expected none. This kind of attention does not"):
        build("parts/mixers", choice, Place(H * E))


@pytest.mark.parametrize(("name", "options", "words"), [
    ("synthesizer_factorized", {"rows": 0}, "SynthesizerFactorized.rows = 0, expected 1 to 11, the context"),
    ("synthesizer_factorized", {"rows": 12}, "SynthesizerFactorized.rows = 12, expected 1 to 11"),
    ("synthesizer_factorized_random", {"rank": 0}, "SynthesizerFactorizedRandom.rank = 0, expected at least 1")])
def test_impossible_sizes_are_refused(name, options, words):
    with pytest.raises(OptionError, match=words):
        made(name, **options)


def test_all_synthesizers_are_tested():
    assert {name for name in names("parts/attention") if name.startswith("synthesizer")} == set(ALL)
