"""The mixture of softmaxes: its definition, its rank, and what it may be made of."""

import pytest
import torch
from torch import nn

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted, parameters
from chainrule.models.shape import Shape
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
R, D, V, K = 37, 5, 23, 3


def made(inside="tied", **options):
    torch.manual_seed(0)
    table = nn.Module()
    table.weight = nn.Parameter(torch.randn(V, D))
    choice = {"name": "mixture_of_softmaxes", "components": K, "inside": inside, **options}
    return build("parts/heads", choice, Place(D, vocabulary=V, outputs=V), table).double()


def by_the_definition(head, h):
    """p(w | h) = Σ_k π_k softmax(W tanh(U_k h + b_k))[w], one vector at a time."""
    prior, p = (head.prior.weight @ h).softmax(0), 0
    for k in range(K):
        own = slice(k * D, (k + 1) * D)
        inside = torch.tanh(head.latent.weight[own] @ h + head.latent.bias[own])
        p = p + prior[k] * (head.inside.weight @ inside).softmax(0)
    return p


@pytest.mark.parametrize("inside", ["tied", {"name": "untied", "bias": False}])
@torch.no_grad()
def test_it_is_its_definition(inside):
    head, hidden = made(inside), torch.randn(R, D, dtype=torch.float64)
    p = torch.stack([by_the_definition(head, h) for h in hidden])
    torch.testing.assert_close(head.log_probs(hidden).exp(), p)
    wanted = torch.arange(R) % V
    wanted[::4] = IGNORED
    real = wanted != IGNORED
    torch.testing.assert_close(head.loss(hidden, wanted), -p[real, wanted[real]].log().sum())


@torch.no_grad()
def test_its_log_probabilities_have_a_higher_rank_than_one_softmax_can_have():
    head, hidden = made(), 3 * torch.randn(200, D, dtype=torch.float64)
    one = build("parts/heads", "tied", Place(D, vocabulary=V, outputs=V), head.inside).double()
    rank = torch.linalg.matrix_rank
    assert rank(one.log_probs(hidden)) == D + 1
    assert rank(head.log_probs(hidden)) == V


@torch.no_grad()
def test_of_one_component_it_is_a_softmax():
    head, hidden = made(components=1), torch.randn(R, D, dtype=torch.float64)
    torch.testing.assert_close(head.log_probs(hidden), head.inside.log_probs(head.latent(hidden).tanh()))


def test_its_scores_are_counted_when_a_loss_is_cut_into_chunks():
    assert made().scores_of_a_row == K * V


def test_its_cost_is_that_of_so_many_softmaxes():
    shape = Shape(pattern="sf", width=16, head={"name": "mixture_of_softmaxes", "components": K})
    plain = Shape(pattern="sf", width=16, head="tied")
    assert parameters(shape, V) - parameters(plain, V) == K * 16 * (16 + 1) + K * 16
    by_name = {part.name: part.forward for part in counted(shape, V)}
    assert by_name["mixture_of_softmaxes"] == 2 * (K * 16 * V + K * 16 * 16 + K * 16)


@pytest.mark.parametrize("inside", ["adaptive", "copying", "independent", "mixture_of_softmaxes"])
def test_a_head_without_a_score_for_each_output_is_refused(inside):
    with pytest.raises(OptionError, match=f"MixtureOfSoftmaxes.inside = '{inside}', expected tied, untied or mlp"):
        made(inside)


def test_no_component_is_refused():
    with pytest.raises(OptionError, match="MixtureOfSoftmaxes.components = 0, expected at least 1. 1 is a single"):
        made(components=0)
