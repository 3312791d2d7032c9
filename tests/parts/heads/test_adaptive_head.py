"""The adaptive softmax: torch's own with the same weights, the definition one token at a time, and its cutoffs."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.problems import Problems
from chainrule.recipe.registry import build

torch.set_num_threads(1)
R, D, V = 37, 18, 23


def made(outputs=V, **options):
    torch.manual_seed(0)
    return build("parts/heads", {"name": "adaptive", **options}, Place(D, vocabulary=V, outputs=outputs), None).double()


def rows():
    """Hidden states of some size, and every token as a target at least once."""
    torch.manual_seed(1)
    return 3 * torch.randn(R, D, dtype=torch.float64), torch.arange(R) % V


def torchs_own(head, cutoffs, factor):
    """The same weights in torch.nn.AdaptiveLogSoftmaxWithLoss."""
    found = torch.nn.AdaptiveLogSoftmaxWithLoss(D, V, list(cutoffs), div_value=factor).double()
    renamed = {name.replace("frequent", "head").replace("clusters", "tail"): value
               for name, value in head.state_dict().items()}
    found.load_state_dict(renamed)
    return found


def by_the_definition(head, h, token, cutoffs):
    """p(w | h) = softmax(W₀ h)[w] below the first cutoff, otherwise softmax(W₀ h)[cluster i] · softmax(Wᵢ Pᵢ h)[w]."""
    bounds, first = [*cutoffs, V], (head.frequent.weight @ h).softmax(0)
    if token < bounds[0]:
        return first[token]
    i = max(n for n in range(len(cutoffs)) if bounds[n] <= token)
    narrow, wide = (each.weight for each in head.clusters[i])
    return first[bounds[0] + i] * (wide @ (narrow @ h)).softmax(0)[token - bounds[i]]


cuts = pytest.mark.parametrize(("cutoffs", "factor"), [((5, 11), 2.0), ((3,), 4.0), ((1, 4, 10, 22), 1.5)])


@cuts
def test_adaptive_softmax_equals_torchs_own(cutoffs, factor):
    head, (hidden, wanted) = made(cutoffs=cutoffs, factor=factor), rows()
    peer = torchs_own(head, cutoffs, factor)
    torch.testing.assert_close(head.log_probs(hidden), peer.log_prob(hidden))
    torch.testing.assert_close(head.loss(hidden, wanted), -peer(hidden, wanted).output.sum())


@cuts
def test_its_gradients_are_those_of_torchs_own(cutoffs, factor):
    head, (hidden, wanted) = made(cutoffs=cutoffs, factor=factor), rows()
    peer = torchs_own(head, cutoffs, factor)
    head.loss(hidden, wanted).backward()
    (R * peer(hidden, wanted).loss).backward()  # torch takes the mean
    for one, other in zip(head.parameters(), peer.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@cuts
@torch.no_grad()
def test_it_is_its_definition(cutoffs, factor):
    head, (hidden, wanted) = made(cutoffs=cutoffs, factor=factor), rows()
    p = torch.stack([torch.stack([by_the_definition(head, h, token, cutoffs) for token in range(V)]) for h in hidden])
    torch.testing.assert_close(head.log_probs(hidden).exp(), p)
    torch.testing.assert_close(head.loss(hidden, wanted), -p[range(R), wanted].log().sum())


@torch.no_grad()
def test_the_loss_leaves_out_what_is_ignored_and_smooths_over_all_tokens():
    head, (hidden, wanted) = made(cutoffs=(5, 11)), rows()
    wanted[::3] = IGNORED
    log_p, real = head.log_probs(hidden), wanted != IGNORED
    chosen = torch.stack([row[token] for row, token in zip(log_p[real], wanted[real], strict=True)])
    torch.testing.assert_close(head.loss(hidden, wanted), -chosen.sum())
    smoothed = -(0.8 * chosen.sum() + 0.2 / V * log_p[real].sum())
    torch.testing.assert_close(head.loss(hidden, wanted, smoothing=0.2), smoothed)
    nothing = torch.full((R,), IGNORED)
    assert head.loss(hidden, nothing).item() == head.loss(hidden, nothing, smoothing=0.2).item() == 0


@torch.no_grad()
def test_without_a_token_the_others_of_its_softmax_share_its_probability():
    head, (hidden, _) = made(cutoffs=(5, 11)), rows()
    p = head.log_probs(hidden).exp()
    for never, cluster in ((7, slice(5, 11)), (22, slice(11, V))):
        without = head.log_probs(hidden, (never,)).exp()
        wanted = p.clone()
        wanted[:, cluster] *= (p[:, cluster].sum(1) / (p[:, cluster].sum(1) - p[:, never]))[:, None]
        wanted[:, never] = 0
        torch.testing.assert_close(without, wanted)
    torch.testing.assert_close(head.log_probs(hidden, (2,)).exp().sum(1), torch.ones(R, dtype=torch.float64))


@torch.no_grad()
def test_a_token_that_is_alone_in_its_cluster_may_be_left_out_too():
    head, (hidden, _) = made(cutoffs=(5, V - 1)), rows()
    without = head.log_probs(hidden, (V - 1,)).exp()
    torch.testing.assert_close(without.sum(1), torch.ones(R, dtype=torch.float64))
    assert not without[:, V - 1].any()


def test_clusters_are_narrower_the_rarer_they_are():
    head = made(cutoffs=(5, 11), factor=3.0)
    assert head.frequent.weight.shape == (5 + 2, D)
    assert [tuple(each.weight.shape) for each in head.clusters[0]] == [(6, D), (6, 6)]
    assert [tuple(each.weight.shape) for each in head.clusters[1]] == [(2, D), (12, 2)]
    assert made(cutoffs=(5, 11), factor=100.0).clusters[1][0].weight.shape == (1, D)
    assert not [name for name, _ in head.named_parameters() if "bias" in name]


@pytest.mark.parametrize(("outputs", "cutoffs"), [(1000, (100, 400)), (23, (2, 9)), (10, (1, 4)), (3, (1, 2))])
def test_by_default_a_tenth_is_frequent_and_four_tenths_end_the_first_cluster(outputs, cutoffs):
    assert made(outputs).bounds == [*cutoffs, outputs]


@pytest.mark.parametrize("cutoffs", [(), (0, 5), (5, 5), (9, 5), (5, V), (-1,), (V + 3,)])
def test_impossible_cutoffs_are_refused(cutoffs):
    with pytest.raises(OptionError, match=rf"Adaptive.cutoffs = \[{', '.join(map(str, cutoffs))}\], expected numbers "
                                          rf"that grow, from 1 to {V - 1}"):
        made(cutoffs=cutoffs)


def test_a_vocabulary_too_small_for_clusters_is_refused():
    with pytest.raises(OptionError, match="Adaptive.cutoffs = None, expected numbers that grow, from 1 to 1"):
        made(2)


def test_a_factor_below_one_is_refused():
    with pytest.raises(OptionError, match="Adaptive.factor = 0.5, expected at least 1. 1 leaves the vectors of rare"):
        made(factor=0.5)
    with pytest.raises(Problems, match="adaptive.factor = '4', expected a number"):
        made(factor="4")


def test_a_recipe_may_say_cutoffs_as_a_list():
    assert made(cutoffs=[4, 9]).bounds == [4, 9, V]


def test_a_stack_with_it_steps_as_it_scores():
    torch.manual_seed(0)
    shape = Shape(pattern="sf", width=D, context=8, parts={"s": {"name": "attention", "heads": 2}}, head="adaptive")
    model = NeuralLanguageModel(Stack(shape, V).double().eval(), 0)
    ids = torch.randint(1, V, (2, 13))
    scores, state = model.score(ids), model.start(2)
    for t, column in enumerate(ids.T):
        log_p = model.log_probs(state)
        torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2, dtype=torch.float64))
        torch.testing.assert_close(log_p.gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)


@torch.no_grad()
def test_without_projection_clusters_are_scored_directly():
    torch.manual_seed(0)
    head = build("parts/heads", {"name": "adaptive_without_projection", "cutoffs": (5, 11)},
                 Place(D, vocabulary=V, outputs=V), None).double()
    hidden, wanted = rows()
    first = (hidden @ head.frequent.weight.T).softmax(1)
    inside = [(hidden @ each.weight.T).softmax(1) for each in head.clusters]
    p = torch.cat([first[:, :5], first[:, 5:6] * inside[0], first[:, 6:] * inside[1]], dim=1)
    torch.testing.assert_close(head.log_probs(hidden).exp(), p)
    torch.testing.assert_close(head.loss(hidden, wanted), -p[range(R), wanted].log().sum())
    assert sum(each.numel() for each in head.parameters()) == D * (V + 2), "a vector for each token and each cluster"
