"""A new attention, feed-forward, wiring and head are one file each: found, checked and usable, nothing else changes."""

import plugins
import pytest
import torch

from chainrule.contracts import contract
from chainrule.models.cost.counting import counted
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.stack import Stack
from chainrule.recipe.recipe import load_recipe
from chainrule.recipe.registry import names

HEAD = '''
from torch import Tensor, nn

from chainrule.parts.place import Place
from chainrule.recipe.registry import part
'''
ATTENTION = '"""Attention by angles."""\n' + HEAD + '''
from chainrule.parts.attention._scored import for_each_head, weighed


@part
class Angles(nn.Module):
    """Keys are weighed by the angle that they have with the query.

    y_i = Σ_j softmax_j(τ cos(q_i, k_j)) v_j
    """

    memory = None

    def __init__(self, place: Place, *, sharpness: float = 4.0):
        super().__init__()
        self.sharpness, self.dropout = sharpness, place.dropout

    def forward(self, q, k, v, q_pos, k_pos, reading):
        q, k = nn.functional.normalize(q, dim=-1), nn.functional.normalize(for_each_head(k, q.shape[1]), dim=-1)
        score = self.sharpness * q @ k.transpose(-1, -2)
        return weighed(score, q, v, q_pos, k_pos, reading, dropout=self.dropout if self.training else 0.0)
'''
FEEDFORWARD = '"""A feed-forward of sines."""\n' + HEAD + '''
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.linear import Linear


@part
class Sines(Pointwise):
    """A linear map, sines, and a linear map.

    y = W₂ sin(W₁ x)
    """

    def __init__(self, place: Place, *, hidden: int = 24):
        super().__init__()
        self.inward, self.outward = Linear(place.width, hidden), Linear(hidden, place.width, depth=place.depth)

    def through(self, x: Tensor) -> Tensor:
        return self.outward(self.inward(x).sin())
'''
WIRING = '"""A skip by halves."""\n' + HEAD + '''
from chainrule.parts.wirings._wiring import Make, Wiring


@part
class Halves(Wiring):
    """The mean of the stream and of what the sublayer makes of it.

    y = (x + dropout(f(norm(x)))) / 2
    """

    ends_with_norm = True

    def __init__(self, place: Place, norm: Make, dropout: Make):
        super().__init__()
        self.norm, self.dropout = norm(), dropout()

    def forward(self, x, sublayer):
        y, state = sublayer(self.norm(x))
        return (x + self.dropout(y)) / 2, state
'''
OUT = '"""A head with a temperature."""\n' + HEAD + '''
from typing import Any

import torch

from chainrule.parts.heads._softmax import Softmax


@part
class Tempered(Softmax):
    """An output matrix of its own, and a learned temperature.

    scores = W h / τ
    """

    def __init__(self, place: Place, embedding: Any):
        super().__init__()
        self.outputs = place.outputs
        self.weight = nn.Parameter(torch.randn(place.outputs, place.width) * 0.02)
        self.warmth = nn.Parameter(torch.ones(1))

    def scores(self, hidden: Tensor) -> Tensor:
        return nn.functional.linear(hidden, self.weight) / self.warmth
'''
FILES = {("attention", "angles"): ATTENTION, ("feedforwards", "sines"): FEEDFORWARD, ("wirings", "halves"): WIRING,
         ("heads", "tempered"): OUT}
SHAPE = Shape(pattern="(sf)*2", width=16, context=8, wiring="halves", head="tempered", embedding="lookup",
              parts={"s": {"name": "attention", "heads": 2, "attend": {"name": "angles", "sharpness": 3.0}},
                     "f": {"name": "sines", "hidden": 20}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("parts")
    (kind, name), source = next(iter(FILES.items()))
    with plugins.part(root, kind, name, source):
        for (kind, name), source in FILES.items():
            plugins.written(root, kind, name, source)
        yield root


def test_each_of_them_is_one_file_and_the_package_needs_no_other(folder):
    touched = [each.relative_to(folder).as_posix() for each in folder.rglob("*.py")]
    assert sorted(touched) == ["attention/angles.py", "feedforwards/sines.py", "heads/tempered.py", "wirings/halves.py"]
    assert all(name in names(f"parts/{kind}") for kind, name in FILES)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("kind", "name"), FILES)
def test_the_contract_of_its_kind_finds_it_and_has_nothing_against_it(kind, name):
    found = contract.run(f"parts/{kind}", name)
    assert len(found) >= 3 and not {each.check: each.problem for each in found if each.problem is not None}


@pytest.mark.usefixtures("folder")
def test_a_recipe_takes_all_four_with_their_options_and_refuses_others():
    changes = ["model.s.attend=angles", "model.s.attend.sharpness=2", "model.f=sines", "model.wiring=halves",
               "model.head=tempered"]
    model = load_recipe("transformer", changes).model
    assert model.s["attend"] == {"name": "angles", "sharpness": 2.0} and model.f == {"name": "sines", "hidden": 24}
    with pytest.raises(Exception, match="sharpnes"):
        load_recipe("transformer", ["model.s.attend={name: angles, sharpnes: 2}"])


@pytest.mark.usefixtures("folder")
def test_together_they_train_are_counted_and_write_token_by_token_what_they_score():
    torch.manual_seed(0)
    stack, ids = Stack(SHAPE, 11), torch.randint(2, 11, (3, 7))
    optimizer = torch.optim.Adam(stack.parameters(), 0.01)
    losses = []
    for _ in range(30):
        loss = stack.head.loss(stack(ids[:, :-1])[0], ids[:, 1:]) / 18
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < 0.7 * losses[0]
    assert {part.name for part in counted(SHAPE, 11)} >= {"attention", "sines", "tempered"}
    model = NeuralLanguageModel(stack.eval(), 1)
    state, scores = model.start(3), model.score(ids)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)
