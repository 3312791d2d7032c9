"""A CRF against every sequence of tags: loss, marginals, the best; gradients; padding; half precision."""

import itertools
import math

import numpy as np
import pytest
import torch

from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
C, D = 4, 5


def made(outputs=C, seed=0):
    torch.manual_seed(seed)
    head = build("parts/heads", {"name": "crf", "deviation": 1.0}, Place(D, outputs=outputs), None).double()
    for parameter in head.parameters():
        parameter.data.normal_()
    return head


def vectors(*shape, seed=1):
    torch.manual_seed(seed)
    return torch.randn(*shape, D, dtype=torch.float64)


def every_sequence(head, hidden_TD):
    """p of each sequence of tags, straight from the equation."""
    scores = (hidden_TD @ head.weight.T + head.bias).tolist()
    first, last, follow = head.first.tolist(), head.last.tolist(), head.transitions.tolist()
    weights = {}
    for tags in itertools.product(range(head.outputs), repeat=len(hidden_TD)):
        score = first[tags[0]] + last[tags[-1]] + sum(scores[t][tag] for t, tag in enumerate(tags))
        weights[tags] = math.exp(score + sum(follow[i][j] for i, j in itertools.pairwise(tags)))
    return {tags: weight / sum(weights.values()) for tags, weight in weights.items()}


@pytest.mark.parametrize(("outputs", "time"), [(1, 3), (2, 1), (3, 2), (4, 4), (2, 7), (3, 5)])
def test_agrees_with_every_sequence(outputs, time):
    head, hidden = made(outputs), vectors(1, time)
    every = every_sequence(head, hidden[0])
    for tags in list(every)[::max(1, len(every) // 20)]:
        assert head.loss(hidden, torch.tensor([tags])).item() == pytest.approx(-math.log(every[tags]), abs=1e-10)
    marginals = np.zeros((time, outputs))
    for tags, p in every.items():
        marginals[range(time), tags] += p
    np.testing.assert_allclose(head.log_probs(hidden)[0].exp().detach(), marginals, rtol=1e-9)
    assert tuple(head.decode(hidden)[0]) == max(every, key=every.__getitem__)


def test_an_unknown_tag_is_summed_over():
    head, hidden = made(), vectors(1, 4)
    every = every_sequence(head, hidden[0])
    expected = sum(every[2, other, 1, 0] for other in range(C))
    assert head.loss(hidden, torch.tensor([[2, IGNORED, 1, 0]])).item() == pytest.approx(-math.log(expected))


def test_smoothing_spreads_the_target_over_every_sequence():
    head, hidden = made(3), vectors(1, 4)
    every = every_sequence(head, hidden[0])
    mean = sum(map(math.log, every.values())) / len(every)
    tags = (2, 0, 0, 1)
    expected = -0.9 * math.log(every[tags]) - 0.1 * mean
    assert head.loss(hidden, torch.tensor([tags]), smoothing=0.1).item() == pytest.approx(expected)


def test_an_output_that_is_never_chosen_is_in_no_sequence():
    head, hidden = made(), vectors(1, 3)
    every = {tags: p for tags, p in every_sequence(head, hidden[0]).items() if 2 not in tags}
    expected = sum(p for tags, p in every.items() if tags[1] == 3) / sum(every.values())
    assert head.log_probs(hidden, (2,))[0, 1, 3].exp().item() == pytest.approx(expected)


LENGTHS = torch.tensor([6, 1, 4])


def batch():
    targets = torch.arange(18).reshape(3, 6) * 7 % C
    return vectors(3, 6), targets.masked_fill(torch.arange(6) >= LENGTHS[:, None], IGNORED)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradients_are_those_of_finite_differences(smoothing):
    head, (hidden, targets) = made(), batch()
    names = [name for name, _ in head.named_parameters()]

    def loss(given, *values):
        return torch.func.functional_call(_Loss(head), {f"head.{name}": value for name, value in
                                                        zip(names, values, strict=True)}, (given, targets, smoothing))

    given = [hidden.requires_grad_(), *(each.detach().requires_grad_() for each in head.parameters())]
    assert torch.autograd.gradcheck(loss, given)


class _Loss(torch.nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, hidden, targets, smoothing):
        return self.head.loss(hidden, targets, smoothing=smoothing, lengths=LENGTHS)


def test_padding_and_other_rows_change_nothing():
    head, (hidden, targets) = made(), batch()
    outcomes = []
    for padding in (0.0, 30.0, -1e4):
        given = hidden.clone()
        given[torch.arange(6) >= LENGTHS[:, None]] = padding
        given.requires_grad_()
        loss = head.loss(given, targets, lengths=LENGTHS)
        loss.backward()
        assert not given.grad[torch.arange(6) >= LENGTHS[:, None]].any()
        outcomes.append((loss, given.grad, [tags.tolist() for tags in head.decode(given, LENGTHS)]))
    for loss, gradient, best in outcomes[1:]:
        torch.testing.assert_close((loss, gradient), outcomes[0][:2])
        assert best == outcomes[0][2]
    alone = [head.loss(hidden[n:n + 1, :length], targets[n:n + 1, :length]) for n, length in enumerate(LENGTHS)]
    torch.testing.assert_close(sum(alone), outcomes[0][0])


def test_a_row_without_words_counts_nothing():
    head, (hidden, targets) = made(), batch()
    with_nothing = head.loss(hidden, targets.index_fill(0, torch.tensor([1]), IGNORED), lengths=torch.tensor([6, 0, 4]))
    torch.testing.assert_close(with_nothing, head.loss(hidden[[0, 2]], targets[[0, 2]], lengths=LENGTHS[[0, 2]]))
    assert [len(tags) for tags in head.decode(hidden, torch.tensor([6, 0, 4]))] == [6, 0, 4]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_float32(dtype):
    """In half precision α would be rounded to whole numbers after a few hundred words."""
    head, hidden, targets = made().to(dtype), vectors(2, 400).to(dtype), torch.arange(800).reshape(2, 400) % C
    loss, exact = head.loss(hidden, targets), made().to(dtype).double().loss(hidden.double(), targets)
    assert loss.dtype == torch.float32 and head.log_probs(hidden).dtype == torch.float32
    # what is left is the rounding of single scores, which are of size 5
    assert loss.item() == pytest.approx(exact.item(), abs=800 * 5 * torch.finfo(dtype).eps)


def test_learns_which_tag_follows_which_where_the_words_say_nothing():
    head = made()
    tags = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3]])
    optimizer = torch.optim.Adam(head.parameters(), 0.1)
    for _ in range(60):
        optimizer.zero_grad()
        head.loss(torch.zeros(1, 8, D, dtype=torch.float64), tags).backward()
        optimizer.step()
    assert head.decode(torch.zeros(1, 8, D, dtype=torch.float64))[0].tolist() == tags[0].tolist()
