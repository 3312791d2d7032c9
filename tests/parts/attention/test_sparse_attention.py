"""Longformer and BigBird: loops over the keys that a query sees, blocks of long texts, and caches."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.attention.bigbird import BigBird
from chainrule.parts.attention.longformer import Longformer
from chainrule.parts.mixers._cache import Cache
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, E, D, CONTEXT = 2, 3, 4, 12, 41
KINDS = {"longformer": {"window": 3, "global_tokens": 2}, "dilated": {"window": 2, "dilation": 3, "global_tokens": 1},
         "without global tokens": {"window": 4, "global_tokens": 0},
         "bigbird": {"block": 3, "random_blocks": 2}, "bigbird, first two": {"block": 2, "global_blocks": 2},
         "bigbird without chance": {"block": 3, "random_blocks": 0},
         "bigbird at random": {"block": 3, "global_blocks": 0, "random_blocks": 1, "seed": 7}}
every = pytest.mark.parametrize("kind", KINDS)
ways = pytest.mark.parametrize("causal", [True, False])


def choice(kind):
    return {"name": "bigbird" if "bigbird" in kind else "longformer", **KINDS[kind]}


def made(kind, causal=True, **options):
    torch.manual_seed(0)
    mixer = {"name": "attention", "heads": H, "attend": choice(kind), **options}
    return build("parts/mixers", mixer, Place(D, 2, context=CONTEXT, causal=causal)).double().eval()


def text(time=37):
    torch.manual_seed(1)
    return torch.randn(B, time, D, dtype=torch.float64)


def reading_of(causal, position="none", **more):
    torch.manual_seed(3)
    where = build("parts/positions", position, Place(D, heads=H, context=64, causal=causal)).double()
    return Reading(causal, position=where, **more)


def whole(mixer, x, reading):
    return mixer(x, None, reading.from_start(x.shape[1], x.device))[0]


def sees(attend, i, j, causal):
    """Whether query i sees key j, by the words of the papers."""
    if causal and j > i:
        return False
    if isinstance(attend, Longformer):
        near = j in [i + step * attend.dilation * sign for step in range(attend.window) for sign in (1, -1)]
        return near or j < attend.first or i < attend.first
    n, m = i // attend.block, j // attend.block
    return abs(n - m) <= 1 or j < attend.first or i < attend.first or m in attend.drawn[n]


def by_the_definition(mixer, x, causal):
    found = torch.zeros_like(x)
    for b in range(B):
        q, k, v = mixer.inward(x[b]).chunk(3, dim=-1)
        for h in range(H):
            own = slice(h * E, (h + 1) * E)
            for i in range(x.shape[1]):
                seen = [j for j in range(x.shape[1]) if sees(mixer.attend, i, j, causal)]
                weight = torch.softmax(k[seen, own] @ q[i, own] / E**0.5, dim=0)
                found[b, i, own] = weight @ v[seen, own]
    return mixer.outward(found)


@every
@ways
@torch.no_grad()
def test_a_whole_text_agrees_with_the_definition_plainly_and_in_blocks(kind, causal, monkeypatch):
    used = []
    for part in (Longformer, BigBird):
        blocks = part._in_blocks
        monkeypatch.setattr(part, "_in_blocks", lambda *given, blocks=blocks: (used.append(True), blocks(*given))[1])
    mixer, reading = made(kind, causal), reading_of(causal)
    for time in (5, 37):
        x = text(time)
        torch.testing.assert_close(whole(mixer, x, reading), by_the_definition(mixer, x, causal))
        assert used == [True] * (time == 37)


@every
@ways
@pytest.mark.parametrize("position", ["rotary", "alibi"])
@pytest.mark.parametrize("time", [30, 37])
def test_blocks_give_what_the_plain_path_gives_with_its_gradients(kind, causal, position, time):
    """Whoever watches sees the plain path, with a weight for each pair of query and key."""
    mixer, x = made(kind, causal, groups=1), text(time)
    reading = reading_of(causal, position, lengths=torch.tensor([time, time - 11]))
    real, found = reading.real(time), []
    for watching in (False, True):
        x.requires_grad_(True)
        if watching:
            with watch():
                y = whole(mixer, x, reading)
        else:
            y = whole(mixer, x, reading)
        weigh = torch.linspace(-1, 1, D, dtype=x.dtype)
        found.append([y[real], *torch.autograd.grad((y[real] * weigh).sum(), [x, mixer.inward.weight])])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@every
@pytest.mark.parametrize("sizes", [[1] * 37, [10, 10, 17], [1, 2, 29, 5]])
@torch.no_grad()
def test_pieces_of_any_size_are_that_loop(kind, sizes):
    mixer, x, reading = made(kind), text(), reading_of(True)
    state, found, read = mixer.start(B, 1, x), [], 0
    for piece in x.split(sizes, dim=1):
        y, state = mixer(piece, state, reading.after(torch.full((B,), read), piece.shape[1]))
        found.append(y)
        read += piece.shape[1]
    torch.testing.assert_close(torch.cat(found, dim=1), by_the_definition(mixer, x, True))
    if not mixer.bounded:
        assert state.entries.shape[1] == mixer.attend.memory + mixer.attend.first


@torch.no_grad()
def test_rows_that_have_read_differently_much_keep_their_first_tokens():
    """One row has not read all of its global tokens yet, the other has gone round its window."""
    mixer, x, reading, read = made("longformer"), text(20), reading_of(True), [1, 11]
    wanted, states = whole(mixer, x, reading), []
    for b, length in enumerate(read):
        one = mixer(x[b:b + 1, :length], mixer.start(1, 1, x), reading.after(torch.zeros(1, dtype=torch.long), length))
        states.append(one[1].entries)
    state, lengths = Cache(torch.cat(states)), torch.tensor(read)
    for size in (1, 4, 1):
        piece = torch.stack([x[b, at:at + size] for b, at in enumerate(lengths.tolist())])
        y, state = mixer(piece, state, reading.after(lengths, size))
        for b, at in enumerate(lengths.tolist()):
            torch.testing.assert_close(y[b], wanted[b, at:at + size])
        lengths = lengths + size


def test_random_blocks_are_distinct_far_and_come_before():
    attend = build("parts/attention", {"name": "bigbird", "block": 2, "random_blocks": 3}, Place(D, context=CONTEXT))
    for n, others in enumerate(attend.drawn):
        there = [m for m in others if m >= 0]
        assert len(set(there)) == len(there) == min(3, max(0, n - 2))
        assert all(1 <= m < n - 1 for m in there)


def test_random_blocks_depend_on_the_seed_and_the_sublayer():
    def found(seed, index):
        place = Place(D, context=400, index=index)
        return build("parts/attention", {"name": "bigbird", "block": 2, "seed": seed}, place).drawn
    assert found(0, 0) == found(0, 0)
    assert found(0, 0) != found(1, 0) and found(0, 0) != found(0, 2)


def test_what_was_drawn_comes_to_a_model_that_was_made_without_numbers():
    with torch.device("meta"):
        empty = build("parts/attention", "bigbird", Place(D, context=900))
    made = build("parts/attention", "bigbird", Place(D, context=900))
    assert torch.equal(empty.to_empty(device="cpu").others, made.others)


@pytest.mark.parametrize(("name", "option", "value", "least"), [
    ("longformer", "window", 0, 1), ("longformer", "dilation", 0, 1), ("longformer", "global_tokens", -1, 0),
    ("bigbird", "block", 0, 1), ("bigbird", "global_blocks", -1, 0), ("bigbird", "random_blocks", -1, 0)])
def test_impossible_options_are_refused(name, option, value, least):
    with pytest.raises(OptionError, match=rf"\.{option} = {value}, expected at least {least}"):
        build("parts/attention", {"name": name, option: value}, Place(D))


def test_in_blocks_nothing_has_the_size_of_all_pairs():
    mixer, x, sizes = made("longformer"), text(200), []

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            sizes.extend(each.numel() for each in (made if isinstance(made, tuple | list) else [made])
                         if torch.is_tensor(each))
            return made

    with Sizes(), torch.no_grad():
        whole(mixer, x, reading_of(True))
    assert max(sizes) < B * 200 * 200
