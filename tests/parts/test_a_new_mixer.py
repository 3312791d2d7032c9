"""A mixer that is added as one file is found, usable from a shape, and keeps the contract of mixers."""

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest
import torch

from chainrule.models.language import NeuralLanguageModel
from chainrule.models.stack import Shape, Stack
from chainrule.recipe.registry import build, names, summary

torch.set_num_threads(1)
TESTS = Path(__file__).parents[1]
SOURCE = '''
"""A running mean: the whole past, all of it alike."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from chainrule.parts.linear import Linear
from chainrule.parts.state import Reading
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class Sum:
    total: Tensor
    count: int


@part
class RunningMean(nn.Module):
    """y_t = W (x_1 + … + x_t) / t; a reader of both sides takes the mean of the row."""

    def __init__(self, width: int, depth: int, *, bias: bool = True):
        super().__init__()
        self.outward = Linear(width, width, bias=bias, depth=depth)

    def start(self, batch: int, room: int, like: Tensor) -> Sum:
        return Sum(like.new_zeros(batch, self.outward.in_features), 0)

    def forward(self, x: Tensor, state: Sum | None, reading: Reading) -> tuple[Tensor, Sum]:
        before = self.start(len(x), 0, x) if state is None else state
        if not reading.causal:
            real = reading.real(x.shape[1])
            real = torch.ones_like(x[..., 0], dtype=torch.bool) if real is None else real
            total = (x * real[..., None]).sum(1, keepdim=True).expand_as(x)
            mean = total / real.sum(1)[:, None, None].clamp(min=1)
        else:
            total = before.total[:, None] + x.cumsum(1)
            mean = total / torch.arange(1 + before.count, 1 + before.count + x.shape[1], device=x.device)[:, None]
        mean = mean.to(x.dtype)
        note("mean", mean)
        return self.outward(mean), Sum(total[:, -1].to(x.dtype), before.count + x.shape[1])
'''


@pytest.fixture(autouse=True)
def _added(tmp_path):
    (tmp_path / "running_mean.py").write_text(SOURCE, encoding="utf-8")
    package = importlib.import_module("chainrule.parts.mixers")
    package.__path__.append(str(tmp_path))
    importlib.invalidate_caches()
    yield
    package.__path__.remove(str(tmp_path))
    sys.modules.pop("chainrule.parts.mixers.running_mean", None)


def contract():
    """The contract's own tests, as they are now that there is a new file."""
    spec = importlib.util.spec_from_file_location("parts_contract", TESTS / "contracts" / "test_parts_contract.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_found_by_its_file():
    assert "running_mean" in names("parts/mixers")
    assert summary("parts/mixers", "running_mean").startswith("y_t = W (x_1 + … + x_t) / t")
    assert build("parts/mixers", {"name": "running_mean", "bias": False}, 4, 1).outward.bias is None


def test_it_is_usable_from_a_shape():
    torch.manual_seed(0)
    shape = Shape(pattern="(rsf)*2", width=16, context=8, r={"name": "running_mean", "bias": False})
    model, ids = NeuralLanguageModel(Stack(shape, 11).eval(), 1), torch.randint(2, 11, (3, 19))
    state = model.start(3)
    scores = model.score(ids)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)


def test_the_contract_finds_it_and_it_keeps_it():
    checks = contract()
    assert ("running_mean", "none") in checks.PAIRS
    for dtype in checks.CLOSE:
        checks.test_piece_by_piece_equals_all_at_once("running_mean", "none", [2, 3, 1, 5], dtype)
    checks.test_rows_of_different_lengths_step_as_if_alone("running_mean", "none")
    checks.test_picked_rows_are_independent_copies("running_mean", "none", [2, 0, 2, 1])
    checks.test_a_later_input_never_changes_an_earlier_output("running_mean", "none")
    for causal in (True, False):
        checks.test_padding_never_changes_a_real_position("running_mean", "none", causal)
        checks.test_an_empty_row_or_batch_does_no_harm("running_mean", "none", causal)
        checks.test_watching_changes_nothing_and_shows_something("running_mean", "none", causal)
        checks.test_gradients_reach_every_parameter_and_the_input("running_mean", "none", causal)
    for dtype in (torch.bfloat16, torch.float64):
        checks.test_a_mixer_keeps_the_kind_of_number("running_mean", "none", dtype)
    checks.test_what_is_saved_is_what_is_loaded("mixers", "running_mean")


def test_the_contract_notices_a_mixer_that_looks_ahead(tmp_path):
    broken = SOURCE.replace("x.cumsum(1)", "x.flip(1).cumsum(1).flip(1)")
    (tmp_path / "running_mean.py").write_text(broken, encoding="utf-8")
    checks = contract()
    with pytest.raises(AssertionError):
        checks.test_a_later_input_never_changes_an_earlier_output("running_mean", "none")
    with pytest.raises(AssertionError):
        checks.test_piece_by_piece_equals_all_at_once("running_mean", "none", [1] * 11, torch.float64)
