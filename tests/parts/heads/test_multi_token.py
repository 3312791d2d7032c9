"""Multi-token prediction: what is added to the loss, and that nothing but training knows of it."""

from dataclasses import replace

import pytest
import torch
from small import LSTM, SIZE, TRANSFORMER, learner, planned, train

from chainrule.errors import OptionError
from chainrule.models.cost.counting import counted, parameters
from chainrule.models.given import Given
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.registry import build
from chainrule.training.plan import Budget

torch.set_num_threads(1)
B, T, D, V = 3, 7, 10, 23
HEAD = {"name": "multi_token", "tokens": 3, "weight": 0.5, "inside": "untied"}


def made(place=None, **options):
    torch.manual_seed(0)
    return build("parts/heads", {**HEAD, **options}, place or Place(D, vocabulary=V, outputs=V), None).double()


def rows():
    torch.manual_seed(1)
    targets = torch.randint(V, (B, T))
    targets[1, 4:] = IGNORED
    return torch.randn(B, T, D, dtype=torch.float64), targets


def by_the_definition(head, hidden, targets, smoothing=0.0):
    """0.5 · Σ_t Σ_{i=2,3} −ln p(w_{t+i} | h_t), one position at a time, for each of the targets."""
    total = 0
    for b in range(B):
        for t in range(T):
            for ahead in (1, 2):
                if t + ahead < T and targets[b, t + ahead] != IGNORED:
                    h = hidden[b, t]
                    x = head.norms[ahead - 1](h[None, None])
                    own = h + head.layers[ahead - 1](x, None, Reading())[0][0, 0]
                    log_p = head.inside.log_probs(own)
                    total = total - (1 - smoothing) * log_p[targets[b, t + ahead]] - smoothing * log_p.mean()
    return 0.5 * total / (targets != IGNORED).sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("at_once", [None, 2 * V])
def test_the_added_loss_is_its_definition(smoothing, at_once):
    head, (hidden, targets) = made(), rows()
    head.scores_at_once = at_once
    with collected_losses() as added:
        loss = head.loss(hidden, targets, smoothing=smoothing)
    torch.testing.assert_close(loss, head.inside.loss(hidden, targets, smoothing=smoothing))
    torch.testing.assert_close(added["multi_token"], by_the_definition(head, hidden, targets, smoothing))


def test_outside_training_it_is_the_head_inside():
    head, (hidden, targets) = made().eval(), rows()
    with collected_losses() as added:
        loss = head.loss(hidden, targets)
    assert not added and loss == head.inside.loss(hidden, targets)
    with collected_losses() as added, torch.no_grad():
        made().loss(hidden, targets)
    assert not added
    assert torch.equal(head.log_probs(hidden, (2,)), head.inside.log_probs(hidden, (2,)))


def test_rows_of_one_token_have_no_others():
    head, (hidden, targets) = made(), rows()
    with collected_losses() as added:
        head.loss(hidden[:, :1], targets[:, :1])
    assert added["multi_token"] == 0


def test_its_cost_is_counted_in_training_alone():
    plain, shape = (Shape(pattern="sf", width=16, context=8, head=head) for head in (
        {"name": "untied"}, {**HEAD, "layer": {"name": "mlp", "hidden": 5, "bias": False}}))
    assert parameters(shape, V) - parameters(plain, V) == 2 * (16 + 2 * 16 * 5)
    one, other = (counted(each, V) for each in (plain, shape))
    assert sum(part.forward for part in one) == sum(part.forward for part in other)
    more = sum(part.training for part in other) - sum(part.training for part in one)
    positions = (8 - 1) + (8 - 2)
    assert more * 8 == positions * 3 * 2 * (2 * 16 * 5 + 16 * V)


@pytest.mark.parametrize("inside", ["tied", "adaptive", {"name": "mixture_of_softmaxes", "components": 2}])
def test_it_works_around_other_heads_and_with_a_source(inside):
    shape = Shape(pattern="sxf", width=16, context=8, head={**HEAD, "inside": inside},
                  source=Shape(pattern="sf", width=16, context=8, causal=False, shared_embedding=True))
    stack, ids = Stack(shape, Sizes(V, V, source=Sizes(V, 0))), torch.randint(V, (2, 7))
    with collected_losses() as added:
        loss = stack.head.loss(stack(ids, given=Given(ids))[0], ids)
    (loss + sum(added.values())).backward()
    missing = [name for name, each in stack.named_parameters() if each.grad is None]
    assert not missing


@pytest.mark.parametrize("shape", [TRANSFORMER, LSTM])
def test_a_network_learns_writes_and_scores_with_it(shape, tmp_path):
    plan, head = planned(budget=Budget(steps=3), evaluate_every=3), {"name": "multi_token", "tokens": 3}
    stack, fitted = train(replace(shape, head=head), plan, tmp_path / "many")
    plain, alone = train(replace(shape, head="tied"), plan, tmp_path / "one")
    assert fitted.metrics[0]["loss"] != alone.metrics[0]["loss"]
    assert not torch.equal(stack.embedding.weight, plain.embedding.weight)
    model, ids = NeuralLanguageModel(stack.eval(), 0), torch.randint(1, SIZE, (2, 9))
    scores, state = model.score(ids), model.start(2)
    for t, column in enumerate(ids.T):
        torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
        state = model.advance(state, column)
    assert learner(replace(shape, head=head), plan).size > learner(replace(shape, head="tied"), plan).size


@pytest.mark.parametrize(("options", "words"), [
    ({"tokens": 1}, "MultiToken.tokens = 1, expected at least 2. 1 is the head inside alone"),
    ({"weight": 0.0}, "MultiToken.weight = 0.0, expected more than 0"),
    ({"inside": "crf"}, "MultiToken.inside = 'crf', expected tied, untied or another with one token for each"),
    ({"inside": "independent"}, "MultiToken.inside = 'independent', expected tied, untied or another"),
    ({"place": Place(D, vocabulary=V, outputs=V, causal=False)},
     "model.head = 'multi_token', expected another head here. What reads both ways has seen the tokens")])
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        made(**options)


def test_a_head_of_whole_rows_is_another():
    with pytest.raises(OptionError, match="model.head = 'multi_token', expected another head here. There is one"):
        made().loss(torch.randn(B, D, dtype=torch.float64), torch.zeros(B, dtype=torch.long))
