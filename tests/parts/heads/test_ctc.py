"""CTC: the loss against every alignment and against torch, its gradients, decoding against every text."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from chainrule.parts.heads._alignments import best_alignment, log_likelihood
from chainrule.parts.heads._ctc_search import best_path, prefix_search
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

torch.set_num_threads(1)
V, BLANK = 4, 3


def collapsed(path):
    """Repetitions, then blanks left out."""
    return tuple(token for token, _ in itertools.groupby(path) if token != BLANK)


def every_text(log_p_TV):
    """p of each text that so many frames can say: the sum over every path, one by one."""
    found = {}
    for path in itertools.product(range(V), repeat=len(log_p_TV)):
        p = math.exp(sum(float(row[token]) for row, token in zip(log_p_TV, path, strict=True)))
        found[collapsed(path)] = found.get(collapsed(path), 0.0) + p
    return found


def frames(time, seed=0, sharpness=1.0):
    torch.manual_seed(seed)
    return (sharpness * torch.randn(time, V, dtype=torch.float64)).log_softmax(-1)


def head(width=5, outputs=V):
    torch.manual_seed(1)
    return build("parts/heads", {"name": "ctc", "deviation": 1.0}, Place(width, outputs=outputs), None).double()


def padded(texts):
    most = max(map(len, texts))
    return torch.tensor([[*text, *[IGNORED] * (most - len(text))] for text in texts]).reshape(len(texts), most)


TEXTS = [(0,), (1, 2), (0, 0), (2, 1, 2), (1, 1, 0)]


@pytest.mark.parametrize("time", [1, 2, 4, 5])
def test_the_forward_algorithm_sums_every_alignment(time):
    log_p, lengths = frames(time), torch.full((len(TEXTS),), time)
    every = every_text(log_p)
    found = log_likelihood(log_p.expand(len(TEXTS), -1, -1), padded(TEXTS), lengths, BLANK)
    for own, text in zip(found.tolist(), TEXTS, strict=True):
        assert own == pytest.approx(math.log(every[text])) if text in every else own == -math.inf
    nothing = log_likelihood(log_p[None], torch.zeros(1, 0, dtype=torch.long), lengths[:1], BLANK)
    assert nothing.item() == pytest.approx(math.log(every[()])) and sum(every.values()) == pytest.approx(1)


def test_the_loss_is_that_of_the_forward_algorithm_with_its_gradients():
    made, lengths = head(), torch.tensor([7, 3, 5, 6, 2])
    found = []
    for loss in (lambda h: made.loss(h, padded(TEXTS), lengths=lengths),
                 lambda h: -log_likelihood(made.log_probs(h), padded(TEXTS), lengths, BLANK)[:4].sum()):
        torch.manual_seed(2)
        hidden = torch.randn(len(TEXTS), 7, 5, dtype=torch.float64, requires_grad=True)
        value = loss(hidden)
        made.zero_grad()
        value.backward()
        found.append([value, hidden.grad, made.weight.grad.clone(), made.bias.grad.clone()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)
    assert not found[0][1][4].any() and not found[0][1][1, 3:].any()  # no alignment; padding


def test_torchs_own_loss_agrees():
    made, lengths = head(), torch.tensor([7, 6, 5, 6, 7])
    hidden = torch.randn(len(TEXTS), 7, 5, dtype=torch.float64)
    theirs = F.ctc_loss(made.log_probs(hidden).transpose(0, 1), padded(TEXTS), lengths,
                        torch.tensor([len(text) for text in TEXTS]), BLANK, "none")
    torch.testing.assert_close(made.losses(hidden, padded(TEXTS), lengths), theirs)
    torch.testing.assert_close(-log_likelihood(made.log_probs(hidden), padded(TEXTS), lengths, BLANK), theirs)


def test_gradients_match_central_differences():
    made = head()
    assert torch.autograd.gradcheck(lambda h: made.loss(h, padded([(0, 0), (2, 1)]), smoothing=0.1,
                                                        lengths=torch.tensor([5, 4])),
                                    torch.randn(2, 5, 5, dtype=torch.float64, requires_grad=True))


def test_a_text_that_the_frames_cannot_say_adds_nothing():
    made, hidden = head(), torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    texts = padded([(0, 0, 0), (0, 1, 2)])
    assert made.losses(hidden, texts).isinf().tolist() == [True, False]
    made.loss(hidden, texts).backward()
    assert not hidden.grad[0].any() and hidden.grad[1].any() and hidden.grad.isfinite().all()
    torch.testing.assert_close(made.loss(hidden, texts), made.losses(hidden, texts)[1])


def test_smoothing_is_the_mean_over_all_outputs_of_real_frames():
    made, hidden, texts = head(), torch.randn(1, 4, 5, dtype=torch.float64), padded([(0, 1)])
    plain = made.loss(hidden, texts, lengths=torch.tensor([3]))
    even = -made.log_probs(hidden)[0, :3].mean(-1).sum()
    torch.testing.assert_close(made.loss(hidden, texts, smoothing=0.2, lengths=torch.tensor([3])),
                               0.8 * plain + 0.2 * even)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("time", [1, 3, 5])
def test_a_prefix_search_with_a_wide_beam_finds_every_text(time, seed):
    log_p = frames(time, seed)
    every = every_text(log_p)
    found = prefix_search(log_p.numpy(), BLANK, 10_000)
    assert {tuple(ids.tolist()): pytest.approx(math.exp(p)) for ids, p in found} == every
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)


def test_a_prefix_search_finds_the_likeliest_text_where_the_best_path_does_not():
    """Two frames: the path of two blanks is likeliest, but the ways to say 0 together are likelier."""
    log_p = np.log(np.array([[0.4, 1e-9, 1e-9, 0.6], [0.4, 1e-9, 1e-9, 0.6]]))
    assert best_path(log_p, BLANK).tolist() == []
    [(ids, p), *_] = prefix_search(log_p, BLANK, 3)
    assert ids.tolist() == [0] and math.exp(p) == pytest.approx(0.4 * 0.4 + 2 * 0.4 * 0.6, rel=1e-6)


def test_a_narrow_beam_never_claims_more_than_the_text_has():
    log_p = frames(6, 3, sharpness=2.0)
    every = every_text(log_p)
    for beams in (1, 2, 4):
        found = prefix_search(log_p.numpy(), BLANK, beams)
        assert 1 <= len(found) <= beams
        assert all(math.exp(p) <= every[tuple(ids.tolist())] + 1e-12 for ids, p in found)


def test_the_best_path_leaves_repetitions_and_blanks_out():
    said = [3, 0, 0, 3, 0, 1, 1, 3, 3, 2]
    log_p = np.log(np.full((len(said), V), 0.01))
    log_p[np.arange(len(said)), said] = 0
    assert best_path(log_p, BLANK).tolist() == [0, 0, 1, 2] and best_path(log_p[:0], BLANK).tolist() == []


@pytest.mark.parametrize("text", [(), (0,), (1, 2), (0, 0), (2, 1, 2)])
def test_the_best_alignment_is_the_likeliest_path_of_the_text(text):
    log_p = frames(5, 7)
    found = best_alignment(log_p.numpy(), np.array(text, np.int64), BLANK)
    path = [BLANK if place < 0 else text[place] for place in found]
    ways = {each: sum(float(row[token]) for row, token in zip(log_p, each, strict=True))
            for each in itertools.product(range(V), repeat=5) if collapsed(each) == text}
    assert collapsed(path) == text and ways[tuple(path)] == pytest.approx(max(ways.values()))
    assert [each for each, _ in itertools.groupby(found) if each >= 0] == list(range(len(text)))


def test_a_text_without_an_alignment_has_no_best_one():
    assert best_alignment(frames(2).numpy(), np.array([0, 0]), BLANK) is None


def test_decoding_looks_only_at_real_frames():
    made, hidden = head(), torch.randn(2, 6, 5, dtype=torch.float64)
    lengths = torch.tensor([6, 2])
    alone = made.decode(hidden[1:, :2])[0]
    assert made.decode(hidden, lengths)[1].tolist() == alone.tolist()
    assert [ids.tolist() for ids, _ in made.search(hidden, lengths, 4)[1]] == [
        ids.tolist() for ids, _ in made.search(hidden[1:, :2], None, 4)[0]]
