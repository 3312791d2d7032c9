"""Linformer: a loop over rows, keys and queries; sharing, padding, a source, and what it cannot do."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

torch.set_num_threads(1)
B, H, T, E, CONTEXT, ROWS = 2, 3, 7, 5, 11, 4
WHERE = torch.arange(T)[None]
sharing = pytest.mark.parametrize("shared", ["none", "heads", "all"])


def made(shared="none", **options):
    torch.manual_seed(0)
    place = Place(H * E, heads=H, context=CONTEXT, causal=False)
    return build("parts/attention", {"name": "linformer", "rows": ROWS, "shared": shared, **options}, place).double()


def inputs(groups=H):
    torch.manual_seed(1)
    return (torch.randn(B, count, T, E, dtype=torch.float64) for count in (H, groups, groups))


@sharing
@pytest.mark.parametrize("groups", [3, 1])
@torch.no_grad()
def test_it_is_its_equation(shared, groups):
    part, (q, k, v), lengths = made(shared), inputs(groups), [7, 4]
    found = part(q, k, v, WHERE, WHERE, Reading(False, positions=WHERE, lengths=torch.tensor(lengths)))
    for b, length in enumerate(lengths):
        for h in range(H):
            of_keys, of_values = (part.weight[n, h if shared == "none" else 0] for n in (0, -1))
            g = h * groups // H
            rows = [sum(of_keys[r, j] * k[b, g, j] for j in range(length)) for r in range(ROWS)]
            values = [sum(of_values[r, j] * v[b, g, j] for j in range(length)) for r in range(ROWS)]
            for i in range(T):
                weight = torch.stack([q[b, h, i] @ row / E**0.5 for row in rows]).softmax(0)
                torch.testing.assert_close(found[b, h, i], weight @ torch.stack(values))


@pytest.mark.parametrize(("shared", "matrices"), [("none", 2 * H), ("heads", 2), ("all", 1)])
def test_shared_matrices_are_fewer(shared, matrices):
    assert sum(each.numel() for each in made(shared).parameters()) == matrices * ROWS * CONTEXT


@torch.no_grad()
def test_projected_rows_start_as_large_as_keys():
    torch.manual_seed(0)
    part = build("parts/attention", "linformer", Place(64, heads=2, context=512, causal=False))
    keys = part.weight[0] @ torch.randn(2, 512, 32)
    assert keys.std().item() == pytest.approx(1, rel=0.1)


def test_it_sees_a_source_as_long_as_the_source_may_be():
    place = Place(H * E, context=3, source_context=CONTEXT)
    mixer = build("parts/mixers", {"name": "cross_attention", "heads": H, "attend": "linformer"}, place).double()
    x, source = torch.randn(B, 2, H * E).double(), torch.randn(B, T, H * E).double()
    y, _ = mixer(x, None, Reading(source=source))
    padded = torch.cat([source, torch.ones(B, 3, H * E)], dim=1)
    with_padding, _ = mixer(x, None, Reading(source=padded, source_lengths=torch.tensor([T, T])))
    torch.testing.assert_close(with_padding, y)


def test_no_scores_of_pairs_are_shown_since_there_are_none():
    part, (q, k, v) = made(), inputs()
    with watch() as seen:
        part(q, k, v, WHERE, WHERE, Reading(False, positions=WHERE))
    assert [each.shape for each in seen.pop("over rows/attention")] == [(B, H, T, ROWS)] and not seen


def test_a_causal_model_refuses_it():
    with pytest.raises(OptionError, match="Attention.attend = 'linformer', expected one that can read from left to ri"):
        build("parts/mixers", {"name": "attention", "attend": "linformer"}, Place(16))


def test_a_text_that_is_too_long_is_refused():
    q = torch.randn(1, H, 12, E, dtype=torch.float64)
    with pytest.raises(OptionError, match="model.context = 11, expected at least 12, the positions that are read"):
        made()(q, q, q, torch.arange(12)[None], torch.arange(12)[None], Reading(False))


def test_positions_that_add_to_scores_are_refused():
    part, (q, k, v), alibi = made(), inputs(), build("parts/positions", "alibi", Place(H * E, heads=H))
    with pytest.raises(OptionError, match="model.position = 'alibi', expected rotary, sinusoidal or another that adds"):
        part(q, k, v, WHERE, WHERE, Reading(False, position=alibi))


def test_no_rows_are_refused():
    with pytest.raises(OptionError, match=r"Linformer.rows = 0, expected at least 1"):
        build("parts/attention", {"name": "linformer", "rows": 0}, Place(16, causal=False))
