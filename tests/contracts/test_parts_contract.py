"""Contract: every part of a neural model, present or future, found by its folder; none may be left out.

A mixer that needs an option to read both ways calls it `directions`, as the recurrent ones do.
"""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from chainrule.parts.state import Reading, detach, pick
from chainrule.recipe.registry import build, find, kinds, names, options, summary
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, S, D, DEPTH, CONTEXT, V = 3, 11, 5, 16, 2, 23, 29
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-5}
LENGTHS = torch.tensor([11, 4, 7])
MIXERS, POSITIONS = names("parts/mixers"), names("parts/positions")
PAIRS = [(mixer, "none") for mixer in MIXERS if mixer != "attention"] + [("attention", p) for p in POSITIONS]
pairs = pytest.mark.parametrize(("name", "position"), PAIRS, ids=[" with ".join(pair) for pair in PAIRS])
each = pytest.mark.parametrize("name", MIXERS)


def made(name, causal=True, dtype=torch.float64, seed=0):
    """A mixer as it starts, its zeros moved off zero."""
    torch.manual_seed(seed)
    both = {"directions": 2} if not causal and "directions" in options("parts/mixers", name) else {}
    return moved(build("parts/mixers", {"name": name, **both}, D, DEPTH)).to(dtype).eval()


def moved(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module


def reading(position="none", causal=True, dtype=torch.float64, heads=4, **told):
    torch.manual_seed(7)
    place = moved(build("parts/positions", position, D, heads, CONTEXT)).to(dtype)
    return Reading(causal, source=torch.randn(B, S, D, dtype=dtype), source_lengths=torch.tensor([5, 2, 3]),
                   position=place, **told)


def inputs(dtype=torch.float64, time=T, rows=B):
    torch.manual_seed(1)
    return torch.randn(rows, time, D, dtype=dtype)


def stepped(mixer, x, told, sizes, room=2):
    """The outputs of consecutive pieces, and the last state."""
    state, found = mixer.start(len(x), room, x), []
    for piece in x.split(sizes, dim=1):
        y, state = mixer(piece, state, told)
        found.append(y)
    return torch.cat(found, dim=1), state


def row_of(told, b):
    """What a reader of the row alone is told."""
    return replace(told, lengths=None, source=told.source[b:b + 1, :told.source_lengths[b]], source_lengths=None)


def close(one, other, dtype=torch.float64):
    torch.testing.assert_close(one, other, atol=CLOSE[dtype], rtol=CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("sizes", [[1] * T, [2, 3, 1, 5], [7, 1, 1, 1, 1], [1, 10]], ids=str)
@pairs
@torch.no_grad()
def test_piece_by_piece_equals_all_at_once(name, position, sizes, dtype):
    mixer, told, x = made(name, dtype=dtype), reading(position, dtype=dtype), inputs(dtype)
    close(stepped(mixer, x, told, sizes)[0], mixer(x, None, told)[0], dtype)


@pairs
@torch.no_grad()
def test_rows_of_different_lengths_step_as_if_alone(name, position):
    mixer, told, x = made(name), reading(position), inputs()
    y, _ = stepped(mixer, x, replace(told, lengths=LENGTHS), [1] * T)
    for b, length in enumerate(LENGTHS):
        close(y[b, :length], mixer(x[b:b + 1, :length], None, row_of(told, b))[0][0])


@pytest.mark.parametrize("rows", [[2, 0, 2, 1], [0, 1, 2], [1]], ids=str)
@pairs
@torch.no_grad()
def test_picked_rows_are_independent_copies(name, position, rows):
    mixer, told, x = made(name), reading(position), inputs()
    whole, rows = mixer(x, None, told)[0], torch.tensor(rows)
    _, state = stepped(mixer, x[:, :5], told, [1] * 5, room=T)
    copies, again = pick(state, rows), pick(state, rows)
    picked = replace(told, source=told.source[rows], source_lengths=told.source_lengths[rows])
    _, state = mixer(x[:, 5:8], state, told)
    _, again = mixer(x[rows, 5:8], again, picked)
    mixer(-x[rows, 5:], copies, picked)  # writes into the copies, and must not be seen elsewhere
    close(mixer(x[:, 8:], state, told)[0], whole[:, 8:])
    close(mixer(x[rows, 8:], again, picked)[0], whole[rows, 8:])


@pairs
@torch.no_grad()
def test_a_later_input_never_changes_an_earlier_output(name, position):
    mixer, told, x = made(name), reading(position), inputs()
    before = mixer(x, None, told)[0]
    for t in range(1, T):
        changed = x.clone()
        changed[:, t:] += torch.randn(B, T - t, D, dtype=x.dtype)
        after = mixer(changed, None, told)[0]
        close(after[:, :t], before[:, :t])
        assert not torch.allclose(after[:, t], before[:, t])


@pairs
@torch.no_grad()
def test_a_reader_of_both_sides_sees_what_follows(name, position):
    mixer, told, x = made(name, causal=False), reading(position, causal=False), inputs()
    changed = x.clone()
    changed[:, 6] += 1
    moved = (mixer(changed, None, told)[0] - mixer(x, None, told)[0]).abs().amax(-1)
    assert (moved[:, 5] > 1e-9).all() or name == "cross_attention"


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both sides"])
@pairs
@torch.no_grad()
def test_padding_never_changes_a_real_position(name, position, causal):
    mixer, x = made(name, causal), inputs()
    told = reading(position, causal, lengths=LENGTHS)
    padding = torch.arange(T) >= LENGTHS[:, None]
    y = mixer(x, None, told)[0]
    other = mixer(x.masked_fill(padding[:, :, None], 1e3), None, told)[0]
    close(other[~padding], y[~padding])
    for b, length in enumerate(LENGTHS):
        close(y[b, :length], mixer(x[b:b + 1, :length], None, row_of(told, b))[0][0])


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both sides"])
@pairs
def test_an_empty_row_or_batch_does_no_harm(name, position, causal):
    mixer, x = made(name, causal), inputs().requires_grad_()
    told = replace(reading(position, causal), lengths=torch.tensor([11, 0, 7]), source_lengths=torch.tensor([5, 0, 3]))
    y = mixer(x, None, told)[0]
    with watch():
        watched = mixer(x, None, told)[0]
    (y + watched).sum().backward()
    assert y.isfinite().all() and watched.isfinite().all() and x.grad.isfinite().all()
    nobody = replace(reading(position, causal), source=torch.zeros(0, S, D, dtype=x.dtype), source_lengths=None)
    assert mixer(x[:0], None, nobody)[0].shape == (0, T, D)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both sides"])
@pairs
@torch.no_grad()
def test_watching_changes_nothing_and_shows_something(name, position, causal):
    mixer, x = made(name, causal), inputs()
    for told in (reading(position, causal), reading(position, causal, lengths=LENGTHS)):
        with watch() as seen:
            watched = mixer(x, None, told)[0]
        assert seen
        assert all(value.shape[0] == B for values in seen.values() for value in values if torch.is_tensor(value))
        close(watched, mixer(x, None, told)[0])
    if causal:
        with watch():
            watched = stepped(mixer, x, told, [1, 3, 7])[0]
        close(watched, mixer(x, None, told)[0])


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both sides"])
@pairs
def test_gradients_reach_every_parameter_and_the_input(name, position, causal):
    mixer, told, x = made(name, causal), reading(position, causal), inputs().requires_grad_()
    y = mixer(told.position.embed(x, torch.arange(T)), None, told)[0]
    (y * torch.randn_like(y)).sum().backward()
    for parameter in (*mixer.parameters(), *told.position.parameters(), x):
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any()


@each
def test_a_detached_state_cuts_history_and_keeps_values(name):
    mixer, told, x = made(name), reading(), inputs()
    whole = mixer(x, None, told)[0]
    _, state = mixer(x[:, :5], mixer.start(B, T, x), told)
    y, _ = mixer(x[:, 5:], detach(state), told)
    close(y, whole[:, 5:])
    y.sum().backward()
    assert all(parameter.grad is not None for parameter in mixer.parameters()) or name == "cross_attention"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pairs
def test_a_mixer_keeps_the_kind_of_number(name, position, dtype):
    mixer, told, x = made(name, dtype=dtype), reading(position, dtype=dtype), inputs(dtype)
    y = mixer(told.position.embed(x, torch.arange(T)), None, told)[0]
    y.sum().backward()
    steps, _ = stepped(mixer, x, told, [4, 7])
    assert y.dtype == steps.dtype == dtype and y.isfinite().all()


@pairs
def test_a_mixer_works_in_mixed_precision(name, position):
    mixer, told, x = made(name, dtype=torch.float32), reading(position, dtype=torch.float32), inputs(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = mixer(x, None, told)[0]
        steps, _ = stepped(mixer, x, told, [4, 7])
    torch.testing.assert_close(y.float(), mixer(x, None, told)[0], atol=0.1, rtol=0.1)
    torch.testing.assert_close(steps.float(), y.float(), atol=0.1, rtol=0.1)
    y.float().sum().backward()


@pytest.mark.parametrize("kind", ["mixers", "feedforwards"])
def test_parts_that_are_made_without_numbers_have_their_shapes(kind):
    for name in names(f"parts/{kind}"):
        with torch.device("meta"):
            part, x = build(f"parts/{kind}", name, D, DEPTH), torch.zeros(B, T, D)
            told = Reading(source=x, position=build("parts/positions", "rotary", D, 4, CONTEXT))
            y = part(x) if kind == "feedforwards" else part(x, None, told)[0]
        assert y.is_meta and y.shape == x.shape


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ("mixers", "feedforwards", "norms", "positions",
                         "embeddings", "heads", "wirings", "dropouts") for name in names(f"parts/{kind}")],
                         ids=lambda value: value)
def test_what_is_saved_is_what_is_loaded(kind, name):
    first, second = (every(kind, name, seed) for seed in (0, 1))
    saved = save({key: value.contiguous() for key, value in first.state_dict().items()})
    second.load_state_dict(load(saved))
    for key, value in second.state_dict().items():
        assert torch.equal(value, first.state_dict()[key])
    assert {key for key, _ in first.named_parameters()} == set(first.state_dict())  # nothing else to be kept


def every(kind, name, seed):
    """A part of any kind; numbers that start at 0 or 1 are moved."""
    torch.manual_seed(seed)
    given = {"mixers": (D, DEPTH), "feedforwards": (D, DEPTH), "norms": (D,), "positions": (D, 4, CONTEXT),
             "embeddings": (V, D), "heads": (D, nn.Parameter(torch.randn(V, D))), "dropouts": (),
             "wirings": (lambda: nn.LayerNorm(D), nn.Identity, DEPTH)}
    return moved(build(f"parts/{kind}", name, *given[kind]))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ("feedforwards", "norms", "dropouts")
                                            for name in names(f"parts/{kind}")], ids=lambda value: value)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_parts_without_time_see_one_position_at_a_time(kind, name, dtype):
    part, x = every(kind, name, 0).to(dtype), inputs(dtype)
    y = part.eval()(x)
    assert y.shape == x.shape and y.dtype == dtype
    if dtype in CLOSE:
        close(torch.cat([part(x[:, t:t + 1]) for t in range(T)], dim=1), y, dtype)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ("feedforwards", "norms", "wirings", "embeddings",
                         "heads") for name in names(f"parts/{kind}")], ids=lambda value: value)
def test_gradients_reach_every_parameter(kind, name):
    part, x = every(kind, name, 0).double(), inputs().requires_grad_()
    given = (torch.randint(V, (B, T)),) if kind == "embeddings" else (x,)
    y = part(*given) if kind != "wirings" else part(x, lambda inward: (inward.tanh(), None))[0]
    (y * torch.randn_like(y)).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in part.parameters())


@pytest.mark.parametrize("name", names("parts/wirings"))
def test_a_wiring_hands_the_state_on(name):
    y, state = every("wirings", name, 0)(inputs(torch.float32), lambda inward: (2 * inward, "after"))
    assert state == "after" and y.shape == (B, T, D)


@pytest.mark.parametrize("name", names("parts/heads"))
def test_a_head_scores_every_token(name):
    assert every("heads", name, 0)(inputs(torch.float32)).shape == (B, T, V)


@pytest.mark.parametrize("name", POSITIONS)
def test_a_position_does_not_depend_on_where_reading_began(name):
    place, x, positions = every("positions", name, 0).double(), inputs(), torch.arange(T)
    heads_BHTE = x.unflatten(-1, (4, -1)).transpose(1, 2)
    close(place.embed(x[:, 4:], positions[4:]), place.embed(x, positions)[:, 4:])
    close(place.turn(heads_BHTE[:, :, 4:], positions[4:]), place.turn(heads_BHTE, positions)[:, :, 4:])
    for causal in (True, False):
        whole = place.bias(positions, positions, causal)
        assert whole is None or whole.shape == (4, T, T)
        if whole is not None:
            close(place.bias(positions[4:7], positions, causal), whole[:, 4:7])


@pytest.mark.parametrize("name", names("parts/dropouts"))
def test_dropout_keeps_the_mean_and_rests_outside_training(name):
    torch.manual_seed(0)
    dropout, x = build("parts/dropouts", {"name": name, "rate": 0.4}), torch.ones(50, 40, 30)
    y = dropout(x)
    assert y.unique().tolist() == pytest.approx([0, 1 / 0.6])
    assert y.mean().item() == pytest.approx(1, abs=0.06)
    assert torch.equal(dropout.eval()(x), x)


def test_every_kind_of_part_is_tried():
    tried = {"mixers", "feedforwards", "norms", "positions", "embeddings", "heads", "wirings", "dropouts"}
    assert {kind.removeprefix("parts/") for kind in kinds() if kind.startswith("parts/")} == tried
    assert len(MIXERS) >= 9 and len(POSITIONS) >= 7


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind.startswith("parts/")])
def test_a_part_says_in_a_sentence_what_it_is_then_how_it_computes(kind):
    for name in names(kind):
        assert summary(kind, name)[0].isupper() and summary(kind, name).endswith("."), name
        assert len((find(kind, name).__doc__ or "").split("\n\n")) >= 2, name
