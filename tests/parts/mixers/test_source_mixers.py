"""Mixers that look at a source: the thought vector and input feeding, straight from their equations."""

import pytest
import torch

from chainrule.errors import OptionError, UsageError
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.watching import watch

B, T, S, D, C = 2, 5, 7, 6, 4
LENGTHS = torch.tensor([7, 3])


def made(name, causal=True, **options):
    torch.manual_seed(0)
    place = Place(D, source_width=C, source_causal=causal)
    return build("parts/mixers", {"name": name, **options}, place).double()


def inputs():
    torch.manual_seed(1)
    x, source = torch.randn(B, T, D, dtype=torch.float64), torch.randn(B, S, C, dtype=torch.float64)
    return x, Reading(source=source, source_lengths=LENGTHS).from_start(T, x.device)


@pytest.mark.parametrize("causal", [True, False])
def test_a_thought_vector_is_the_last_of_the_source_through_a_gate(causal):
    mixer, (x, reading) = made("thought_vector", causal), inputs()
    y, _ = mixer(x, None, reading)
    for b, length in enumerate(LENGTHS.tolist()):
        last = reading.source[b, length - 1].clone()
        if not causal:  # of a source that is read both ways, what was read backward ends at the first vector
            last[C // 2:] = reading.source[b, 0, C // 2:]
        for t in range(T):
            gate = torch.sigmoid(mixer.gate.weight @ x[b, t] + mixer.gate.bias)
            torch.testing.assert_close(y[b, t], gate * (mixer.outward.weight @ last))


@pytest.mark.parametrize("attend", ["additive", "dot", "general", "full", "mlp_score"])
def test_input_feeding_agrees_with_its_equations(attend):
    mixer, (x, reading) = made("input_feeding", attend=attend), inputs()
    with watch() as seen:
        y, _ = mixer(x, None, reading)
    weights = seen["over source/attention"][0]
    assert weights.shape == (B, 1, T, S)
    for b, length in enumerate(LENGTHS.tolist()):
        keys = reading.source[b, :length] @ mixer.inward.weight.T
        h = c = fed = torch.zeros(D, dtype=torch.float64)
        for t in range(T):
            z = mixer.cell.project(torch.cat([x[b, t], fed])[None]) + h[None] @ mixer.cell.fused.weight_hh_l0.t()
            i, f, g, o = z[0].chunk(4)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            own = weights[b, 0, t, :length]
            torch.testing.assert_close(own.sum(), torch.ones((), dtype=torch.float64))
            fed = torch.tanh(mixer.outward.weight @ torch.cat([h, own @ keys]))
            torch.testing.assert_close(y[b, t], fed)


def test_coverage_is_what_was_looked_at_again():
    mixer, (x, reading) = made("input_feeding", coverage=2.0).train(), inputs()
    with watch() as seen, collected_losses() as added:
        mixer(x, None, reading)
    weights = seen["over source/attention"][0][:, 0]
    lost = torch.stack([torch.minimum(weights[:, t], weights[:, :t].sum(1)).sum(-1) for t in range(T)], 1)
    torch.testing.assert_close(added["coverage"], 2.0 * lost.mean())
    with collected_losses() as added:
        mixer.eval()(x, None, reading)
    assert not added, "a loss outside training"


def test_what_is_missing_or_wrong_is_said():
    x, _ = inputs()
    for name in ("thought_vector", "input_feeding"):
        with pytest.raises(UsageError, match="looks at a source, and there is none. Take x out of model.pattern"):
            made(name)(x, None, Reading().from_start(T, x.device))
    with pytest.raises(OptionError, match=r"InputFeeding.coverage = -1.0, expected 0 or more"):
        made("input_feeding", coverage=-1.0)
