"""Sliding-window attention: a loop over queries, the blocks of a long text, and a cache as long as the window."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.parts.attention.sliding_window import SlidingWindow
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, D, H, E = 2, 12, 3, 4
LONG = 31
ways = pytest.mark.parametrize("causal", [True, False])
windows = pytest.mark.parametrize("window", [1, 3, 7, 50])
positions = pytest.mark.parametrize("position", ["none", "rotary", "alibi", "relative_bias"])


def made(window, causal=True, **options):
    torch.manual_seed(0)
    choice = {"name": "attention", "heads": H, "attend": {"name": "sliding_window", "window": window}, **options}
    return build("parts/mixers", choice, Place(D, 2, causal=causal)).double().eval()


def reading_of(causal=True, position="none", **more):
    """How it reads: whole texts, with positions whose numbers are not small."""
    torch.manual_seed(3)
    where = build("parts/positions", position, Place(D, heads=H, context=64, causal=causal)).double()
    with torch.no_grad():
        for parameter in where.parameters():
            parameter.normal_()
    return Reading(causal, position=where, **more)


def text(time=LONG):
    torch.manual_seed(1)
    return torch.randn(B, time, D, dtype=torch.float64)


def whole(mixer, x, reading):
    return mixer(x, None, reading.from_start(x.shape[1], x.device))[0]


def one_query_at_a_time(mixer, x, window, reading):
    """y_i = Σ_j softmax_j(q_i·k_j / √E + bias_ij) v_j over the keys near query i, head by head."""
    time, groups, found = x.shape[1], mixer.groups, torch.zeros(B, x.shape[1], H * E, dtype=torch.float64)
    where = torch.arange(time)[None]
    bias_HQK = torch.zeros(H, time, time) if not reading.position.biases else reading.position.bias(
        where, where, reading.causal)[0]
    for b in range(B):
        q, k, v = mixer.inward(x[b]).split([H * E, groups * E, groups * E], dim=-1)
        turn = [reading.position.turn(each.view(1, time, -1, E).transpose(1, 2), where)[0] for each in (q, k)]
        for h in range(H):
            g = h * groups // H
            for i in range(time):
                near = [j for j in range(time) if abs(i - j) < window and (j <= i or not reading.causal)]
                score = torch.stack([turn[0][h, i] @ turn[1][g, j] / E**0.5 + bias_HQK[h, i, j] for j in near])
                found[b, i, h * E:(h + 1) * E] = score.softmax(0) @ v[near, g * E:(g + 1) * E]
    return mixer.outward(found)


@ways
@windows
@torch.no_grad()
def test_it_is_a_loop_over_queries_and_the_keys_near_them(window, causal):
    mixer, x = made(window, causal), text()
    reading = reading_of(causal, "rotary")
    torch.testing.assert_close(whole(mixer, x, reading), one_query_at_a_time(mixer, x, window, reading))


@positions
@pytest.mark.parametrize("groups", [3, 1])
@torch.no_grad()
def test_a_long_text_that_is_read_in_blocks_is_that_loop_too(position, groups, monkeypatch):
    used, blocks = [], SlidingWindow._in_blocks
    monkeypatch.setattr(SlidingWindow, "_in_blocks", lambda *given: (used.append(True), blocks(*given))[1])
    mixer, x, reading = made(5, groups=groups), text(), reading_of(position=position)
    torch.testing.assert_close(whole(mixer, x, reading), one_query_at_a_time(mixer, x, 5, reading))
    assert used == [True]


@ways
@positions
@pytest.mark.parametrize("time", [15, 22, LONG])
def test_blocks_give_what_the_plain_path_gives_with_its_gradients(position, time, causal):
    """Whoever watches sees the plain path, with a weight for each pair of query and key."""
    mixer, reading = made(7, causal, groups=1), reading_of(causal, position)
    found = []
    for watches in (False, True):
        x = text(time).requires_grad_()
        if watches:
            with watch() as seen:
                y = whole(mixer, x, reading)
            assert seen["attention"][0].shape == (B, H, time, time)
        else:
            y = whole(mixer, x, reading)
        weigh = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
        learned = [x, *mixer.parameters(), *reading.position.parameters()]
        found.append([y, *torch.autograd.grad((y * weigh).sum(), learned)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@ways
@torch.no_grad()
def test_a_window_as_long_as_the_text_is_full_attention(causal):
    x, reading = text(), reading_of(causal, "rotary")
    torch.manual_seed(0)
    full = build("parts/mixers", {"name": "attention", "heads": H}, Place(D, 2, causal=causal)).double().eval()
    torch.testing.assert_close(whole(made(LONG, causal), x, reading), whole(full, x, reading))
    assert not torch.allclose(whole(made(LONG - 1, causal), x, reading), whole(full, x, reading))


@windows
@torch.no_grad()
def test_step_by_step_it_is_that_loop_and_the_cache_stays_as_long_as_the_window(window):
    mixer, x, reading = made(window, groups=1), text(), reading_of(position="alibi")
    state, found = mixer.start(B, LONG, x), []
    assert state.entries.shape == (B, window, 2, E)
    for t in range(LONG):
        y, state = mixer(x[:, t:t + 1], state, reading.after(torch.full((B,), t), 1))
        found.append(y)
        assert state.entries.shape[1] == window
    torch.testing.assert_close(torch.cat(found, dim=1), one_query_at_a_time(mixer, x, window, reading))


@pytest.mark.parametrize("sizes", [[10, 10, 11], [1, 29, 1], [2, 3, 26], [31]])
@torch.no_grad()
def test_pieces_longer_and_shorter_than_the_window_are_that_loop(sizes):
    mixer, x, reading = made(7), text(), reading_of(position="rotary")
    state, found, read = mixer.start(B, 1, x), [], 0
    for piece in x.split(sizes, dim=1):
        y, state = mixer(piece, state, reading.after(torch.full((B,), read), piece.shape[1]))
        found.append(y)
        read += piece.shape[1]
    torch.testing.assert_close(torch.cat(found, dim=1), one_query_at_a_time(mixer, x, 7, reading))
    assert state.entries.shape[1] == 7


@torch.no_grad()
def test_padding_is_no_key_for_a_reader_of_both_sides():
    mixer, x = made(4, causal=False), text(9)
    y = whole(mixer, x, reading_of(False, "alibi", lengths=torch.tensor([9, 5])))
    alone = whole(mixer, x[1:, :5], reading_of(False, "alibi"))
    torch.testing.assert_close(y[1:, :5], alone)


def test_watching_shows_no_weight_beyond_the_window():
    mixer, x = made(3), text(9)
    with watch() as seen:
        whole(mixer, x, reading_of())
    [weight_BHQK] = seen["attention"]
    near = (torch.arange(9)[:, None] - torch.arange(9)).clamp(min=-1)
    assert torch.equal(weight_BHQK > 0, ((near >= 0) & (near < 3)).expand_as(weight_BHQK))


def test_a_stack_of_it_reads_on_without_end_and_steps_as_it_scores():
    torch.manual_seed(0)
    part = {"name": "sliding_window", "window": 5, "heads": H}
    shape = Shape(pattern="(sf)*2", width=D, context=8, parts={"s": part})
    assert shape.part("s")["attend"] == {"name": "sliding_window", "window": 5} and shape.heads == H
    model = NeuralLanguageModel(Stack(shape, 11).double().eval(), 1)
    ids = torch.randint(2, 11, (B, LONG))
    assert model.window is None and not model.stack.bounded
    scores, state = model.score(ids), model.start(B)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)
    hidden = model.stack(torch.cat([torch.full((B, 1), 1), ids[:, :-1]], dim=1))[0]  # all at once, without a state
    expected = model.stack.head.log_probs(hidden, never=(1,)).gather(-1, ids[..., None])[..., 0]
    torch.testing.assert_close(scores, expected)


def test_dropout_is_for_training_only():
    mixer, x, reading = made(3, dropout=0.5), text(), reading_of()
    torch.testing.assert_close(whole(mixer, x, reading), whole(made(3), x, reading))
    mixer.train()
    assert not torch.allclose(whole(mixer, x, reading), whole(mixer, x, reading))
    with watch():
        assert not torch.allclose(whole(mixer, x, reading), whole(mixer, x, reading))


@pytest.mark.parametrize("window", [0, -2])
def test_a_window_without_a_key_is_refused(window):
    with pytest.raises(OptionError, match=f"SlidingWindow.window = {window}, expected at least 1. 1 lets a token see"):
        made(window)
