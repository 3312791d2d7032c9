"""A stack as a language model: steps equal scores beyond the window too, whatever the sentence is."""

import numpy as np
import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.parts.reading import Reading
from chainrule.protocols import LanguageModel
from chainrule.recipe.registry import names
from chainrule.watching import watch

torch.set_num_threads(1)
B, T, V, WIDTH, CONTEXT, START = 3, 29, 13, 16, 11, 1
SHAPES = {
    "gpt": Shape(pattern="(sf)*2", position="learned", parts={"f": "mlp"}, norm="layer"),
    "transformer": Shape(pattern="(sf)*2", parts={"s": {"name": "attention", "heads": 4, "groups": 2}}),
    "post-norm": Shape(pattern="(sf)*2", wiring="post_norm", position="sinusoidal"),
    "sandwich": Shape(pattern="s*2 (sf)*2 f*2", position="alibi"),
    "relative": Shape(pattern="(sf)*2", position="relative_bias"),
    "hybrid": Shape(pattern="(rsf)*2"),
    "hybrid of one gate": Shape(pattern="(rsf)*2", parts={"r": "ugrnn"}, position="none"),
    "convolutions": Shape(pattern="cf", position="none"),
    "window": Shape(pattern="wf", wiring="plain", norm="none", position="none", parts={"f": "mlp"}),
    "window with places": Shape(pattern="wf", position="learned"),
    "recurrence, then attention": Shape(pattern="rrs", wiring="residual", norm="none", position="none"),
    "sliding window": Shape(pattern="(sf)*2", parts={"s": {"name": "sliding_window", "window": 4}}),
    "some full, most sliding": Shape(pattern="(lf)*2 sf", parts={"l": {"name": "sliding_window", "window": 3}}),
    "experts": Shape(pattern="(sf)*2", parts={"f": {"name": "mixture_of_experts", "experts": 3}}),
    "deep and shared": Shape(pattern="[sf]*3", wiring="deep_norm"),
    "shared with own norms": Shape(pattern="{sf}*3", wiring="post_norm"),
    "rezero": Shape(pattern="(rf)*2", wiring="rezero", position="none"),
    "adaptive": Shape(pattern="sf", head="adaptive"),
} | {f"stacked {name}": Shape(pattern="rr", parts={"r": name}, wiring="plain", norm="none", position="none",
                              head="untied")
     for name in ("elman", "ugrnn", "gru", "lstm", "lstm_linear_output")}


def made(shape, dtype=torch.float64):
    torch.manual_seed(0)
    stack = Stack(Shape(**{**vars(shape), "width": WIDTH, "context": CONTEXT}), V).to(dtype).eval()
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return NeuralLanguageModel(stack, START)


@pytest.fixture(scope="module", params=SHAPES)
def model(request):
    return made(SHAPES[request.param])


def stepped(model, ids):
    state, found = model.start(len(ids)), []
    for column in ids.T:
        found.append(model.log_probs(state).gather(1, column[:, None])[:, 0])
        state = model.advance(state, column)
    return torch.stack(found, dim=1), state


def text(seed=0, rows=B, time=T):
    torch.manual_seed(seed)
    return torch.randint(2, V, (rows, time))


def test_it_is_a_language_model(model):
    assert isinstance(model, LanguageModel) and model.vocabulary_size == V
    for rows in (0, 1, 3):
        assert model.log_probs(model.start(rows)).shape == (rows, V)


@pytest.mark.parametrize("time", [1, 2, CONTEXT - 1, CONTEXT, CONTEXT + 1, T])
def test_one_by_one_equals_all_at_once(model, time):
    ids = text(time=time)
    torch.testing.assert_close(stepped(model, ids)[0], model.score(ids), atol=1e-5, rtol=1e-5)


def test_a_score_depends_on_nothing_that_follows(model):
    ids = text()
    for time in (1, 7, CONTEXT, 17):
        torch.testing.assert_close(model.score(ids[:, :time]), model.score(ids)[:, :time], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_numpy_ids_are_taken_as_they_come_from_a_tokenizer(model, dtype):
    ids = np.array([[2, 3, 4], [4, 3, 2]], dtype)
    _, expected = stepped(model, torch.tensor(ids.astype(np.int64)))
    state = model.start(2)
    for column in ids.T:
        state = model.advance(state, column)
    assert torch.equal(model.log_probs(state), model.log_probs(expected))
    torch.testing.assert_close(model.log_probs(model.pick(state, np.array([1]))), model.log_probs(expected)[1:])
    assert torch.equal(torch.as_tensor(model.score(ids)), torch.as_tensor(model.score(ids.astype(np.int64))))


def test_picked_rows_advance_independently(model):
    ids, rows = text(), [2, 0, 2]
    _, state = stepped(model, ids[:, :14])
    copies, again = model.pick(state, rows), model.pick(state, torch.tensor(rows))
    for _ in range(CONTEXT):
        copies = model.advance(copies, torch.tensor([2, 3, 4]))
    found = []
    for column in ids[rows, 14:].T:
        found.append(model.log_probs(again).gather(1, column[:, None])[:, 0])
        again = model.advance(again, column)
    torch.testing.assert_close(torch.stack(found, dim=1), model.score(ids)[rows, 14:], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(model.log_probs(state), model.log_probs(stepped(model, ids[:, :14])[1]))


def test_probabilities_sum_to_one(model):
    _, state = stepped(model, text(time=5))
    torch.testing.assert_close(model.log_probs(state).exp().sum(-1), torch.ones(B, dtype=torch.float64))
    assert not model.log_probs(state)[:, START].exp().any(), "nothing begins again inside a text"


def test_only_what_has_a_bounded_memory_is_read_in_windows():
    assert made(SHAPES["gpt"]).window == made(SHAPES["hybrid"]).window == CONTEXT
    assert made(SHAPES["window with places"]).window == CONTEXT
    assert made(SHAPES["stacked lstm"]).window is made(SHAPES["convolutions"]).window is None
    assert made(SHAPES["sliding window"]).window is None and made(SHAPES["some full, most sliding"]).window == CONTEXT


def test_a_recurrent_model_remembers_beyond_any_window():
    model, ids = made(SHAPES["stacked lstm"]), text()
    other = ids.clone()
    other[:, 0] = (other[:, 0] - 1).clamp(min=2) + (other[:, 0] == 2)
    assert (model.score(ids)[:, -1] != model.score(other)[:, -1]).all()


@pytest.mark.parametrize("name", ["hybrid", "gpt", "stacked ugrnn"])
def test_single_precision_steps_as_it_scores(name):
    model, ids = made(SHAPES[name], torch.float32), text()
    torch.testing.assert_close(stepped(model, ids)[0], model.score(ids), atol=1e-5, rtol=1e-5)


def test_watching_shows_every_layer():
    model = made(SHAPES["hybrid"])
    with watch() as seen:
        model.score(text(time=5))
    assert len([name for name in seen if name.endswith("attention")]) == 2
    assert len([name for name in seen if name.endswith("forget_gate")]) == 2


@pytest.mark.parametrize("pattern", ["(sf)*2", "(rsf)*2", "cf", "wf", "s*2 (sf)*2 f*2"])
def test_a_stack_that_reads_both_ways_ignores_padding(pattern):
    torch.manual_seed(0)
    stack = Stack(Shape(pattern=pattern, width=WIDTH, context=50, parts={"r": "gru"}, causal=False), V).double()
    ids, lengths = text(), torch.tensor([29, 1, 17])
    whole = stack(ids, reading=Reading(causal=False, lengths=lengths))[0]
    for b, length in enumerate(lengths):
        alone = stack(ids[b:b + 1, :length])[0][0]
        torch.testing.assert_close(whole[b, :length], alone)


def test_a_stack_with_a_source_steps_as_it_reads():
    torch.manual_seed(0)
    stack = Stack(Shape(pattern="(sxf)*2", width=WIDTH, context=CONTEXT), V).double()
    ids, lengths = text(time=7), torch.tensor([5, 1, 3])
    reading = Reading(source=torch.randn(B, 5, WIDTH).double(), source_lengths=lengths)
    whole, state = stack(ids, reading=reading)[0], stack.start(B, 4)
    for t in range(7):
        y, state = stack(ids[:, t:t + 1], state, reading)
        torch.testing.assert_close(y[:, 0], whole[:, t])


@pytest.mark.parametrize("letter", "srcw")
@pytest.mark.parametrize("wiring", names("parts/wirings"))
def test_any_mixer_goes_into_any_wiring(letter, wiring):
    torch.manual_seed(0)
    stack = Stack(Shape(pattern=f"({letter}f)*2", width=WIDTH, wiring=wiring), V)
    y = stack(text())[0]
    assert y.shape == (B, T, WIDTH) and y.isfinite().all()


@pytest.mark.parametrize("cuts", [(T,), (3, T), (1, 12, 25, T)])
def test_reading_at_once_is_reading_one_by_one_beyond_the_window_too(model, cuts):
    ids = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(1))
    state, begin = model.start(B), 0
    for end in cuts:
        state = model.read(state, ids[:, begin:end])
        begin = end
    slowly = stepped(model, ids)[1]
    torch.testing.assert_close(model.log_probs(state), model.log_probs(slowly))
    torch.testing.assert_close(model.log_probs(model.advance(state, ids[:, 0])),
                               model.log_probs(model.advance(slowly, ids[:, 0])))


def test_rows_that_have_read_differently_much_go_on_together(model):
    ids, read = text(), [3, 14, 9]
    state = model.join([model.read(model.start(1), ids[b:b + 1, :length]) for b, length in enumerate(read)])
    assert state.counts.shape == (B,)
    whole = model.score(ids)
    for ahead in range(T - max(read)):
        column = torch.stack([ids[b, length + ahead] for b, length in enumerate(read)])
        found = model.log_probs(state).gather(1, column[:, None])[:, 0]
        wanted = torch.stack([whole[b, length + ahead] for b, length in enumerate(read)])
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        state = model.advance(state, column)


def test_ids_and_rows_may_be_numpys(model):
    ids = text(time=14)
    torch.testing.assert_close(model.score(ids.numpy()), model.score(ids))
    slowly = model.read(model.start(B), ids.numpy())
    again = model.pick(model.advance(slowly, np.array([3, 4, 5])), np.array([1, 2]))
    wanted = model.pick(model.advance(model.read(model.start(B), ids), torch.tensor([3, 4, 5])), [1, 2])
    torch.testing.assert_close(model.log_probs(again), model.log_probs(wanted))


@pytest.mark.parametrize(("numbers", "scores"), [(torch.float64, torch.float64), (torch.float32, torch.float32),
                                                 (torch.bfloat16, torch.float32)])
def test_probabilities_are_as_precise_as_the_stack_and_single_at_least(numbers, scores):
    for name in ("gpt", "adaptive"):
        model, ids = made(SHAPES[name], numbers), text(time=5)
        assert model.score(ids).dtype == model.log_probs(model.start(B)).dtype == scores


def test_a_block_in_square_brackets_is_the_same_block_each_time():
    torch.manual_seed(0)
    shared, apart = (Stack(Shape(pattern=pattern, width=WIDTH, context=CONTEXT), V).double()
                     for pattern in ("s[sf]*3", "s(sf)*3"))
    blocks = shared.sublayers[1:]
    assert blocks[0] is blocks[2] is blocks[4] and blocks[1] is blocks[3] and blocks[0] is not shared.sublayers[0]
    one_block = sum(each.numel() for layer in blocks[:2] for each in layer.parameters())
    saved = sum(each.numel() for each in apart.parameters()) - sum(each.numel() for each in shared.parameters())
    assert saved == 2 * one_block
    for n, layer in enumerate(shared.sublayers):
        apart.sublayers[n].load_state_dict(layer.state_dict())
    for each in ("embedding", "norm"):
        getattr(apart, each).load_state_dict(getattr(shared, each).state_dict())
    ids = text()
    torch.testing.assert_close(shared(ids)[0], apart(ids)[0])
    shared(ids)[0].square().sum().backward()
    apart(ids)[0].square().sum().backward()
    each_round = [apart.sublayers[n].body.outward.weight.grad for n in (2, 4, 6)]
    torch.testing.assert_close(blocks[1].body.outward.weight.grad, sum(each_round))


def test_a_block_in_braces_is_the_same_block_with_norms_of_its_own():
    torch.manual_seed(0)
    shared, apart = (Stack(Shape(pattern=pattern, width=WIDTH, context=CONTEXT, wiring="deep_norm"), V).double()
                     for pattern in ("{sf}*3", "(sf)*3"))
    assert shared.sublayers[0].body is shared.sublayers[2].body is shared.sublayers[4].body
    assert len({id(layer.wiring) for layer in shared.sublayers}) == 6
    saved = sum(each.numel() for each in apart.parameters()) - sum(each.numel() for each in shared.parameters())
    assert saved == 2 * sum(each.numel() for layer in shared.sublayers[:2] for each in layer.body.parameters())
    for n, layer in enumerate(shared.sublayers):
        with torch.no_grad():
            layer.wiring.norm.gain += 0.1 * n
        apart.sublayers[n].load_state_dict(layer.state_dict())
    apart.embedding.load_state_dict(shared.embedding.state_dict())
    torch.testing.assert_close(shared(text())[0], apart(text())[0])


def test_the_weights_of_a_shared_body_start_as_those_of_one_that_is_not_shared():
    """DeepNorm makes first weights smaller: once, however often the body is used."""
    deviation = {pattern: Stack(Shape(pattern=pattern, width=64, context=4, wiring="deep_norm"), V).sublayers[
        1].body.outward.weight.std().item() for pattern in ("{sf}*3", "(sf)*3")}
    assert deviation["{sf}*3"] == pytest.approx(deviation["(sf)*3"], rel=0.05)


def test_sublayers_that_share_weights_have_separate_states():
    stack = Stack(Shape(pattern="[r]*3", width=WIDTH, context=CONTEXT, position="none"), V)
    _, after = stack(text(time=4), stack.start(B, 4))
    first, second, third = (each.h for each in after.sublayers)
    assert not torch.allclose(first, second) and not torch.allclose(second, third)
    assert after.lengths.tolist() == [4] * B


def test_a_stack_may_predict_other_things_than_it_reads():
    stack = Stack(Shape(pattern="sf", width=WIDTH, head="untied"), Sizes(V, 5))
    assert stack.head.log_probs(stack(text())[0]).shape == (B, T, 5)
    with pytest.raises(OptionError, match="model.head = 'tied', expected 'untied' here. The outputs are not the input"):
        Stack(Shape(pattern="sf", width=WIDTH), Sizes(V, 5))


def test_a_reader_of_both_sides_sees_what_follows_and_a_causal_one_does_not():
    ids, other = text(), text()
    other[:, -1] = 2 + (other[:, -1] - 1) % (V - 2)
    for causal in (True, False):
        torch.manual_seed(0)
        stack = Stack(Shape(pattern="rs", width=WIDTH, causal=causal), V).double()
        same = (stack(ids)[0] - stack(other)[0]).abs().amax(-1) < 1e-12
        assert same[:, :-1].all() if causal else not same.any()


@pytest.mark.parametrize("position", ["alibi", "relative_bias"])
def test_positions_for_each_head_need_as_many_heads_everywhere(position):
    parts = {"s": {"name": "attention", "heads": 2}, "t": {"name": "attention", "heads": 4}}
    with pytest.raises(OptionError, match=f"model.position = '{position}', expected rotary or another one that is the "
                                          "same for all heads. The attention sublayers have 2 and 4 heads."):
        Stack(Shape(pattern="stf", width=WIDTH, parts=parts, position=position), V)
    Stack(Shape(pattern="stf", width=WIDTH, parts=parts, position="rotary"), V)(text())
