"""What modules do beyond one example each: hard targets, masks, vectors, modes, truncation, mistakes."""

import numpy as np
import pytest

from chainrule.engine import Tensor, gradcheck, scatter
from chainrule.errors import UsageError
from chainrule.recipe.registry import find

RANDOM = np.random.default_rng(5)


def module(name, *words, **options):
    return find("engine/modules", name)(*words, **options)


@pytest.mark.parametrize("name", ["cross_entropy", "softmax_cross_entropy"])
def test_a_class_is_a_soft_target_with_all_on_one(name):
    p, ids = RANDOM.dirichlet(np.full(5, 20.0), size=(2, 3)), RANDOM.integers(5, size=(2, 3))
    loss = module(name)
    hard, soft, given = loss(x := Tensor(p), ids), loss(y := Tensor(p), np.eye(5)[ids]), (p, ids)
    assert hard.item() == pytest.approx(soft.item(), rel=1e-12)
    np.testing.assert_allclose(scatter(hard)[x], scatter(soft)[y], rtol=1e-12)
    gradcheck(loss, given)


def test_the_fused_loss_is_the_two_modules_and_survives_what_they_do_not():
    x, ids = Tensor(RANDOM.normal(size=(4, 5))), RANDOM.integers(5, size=4)
    fused, apart = module("softmax_cross_entropy")(x, ids), module("cross_entropy")(module("softmax")(x), ids)
    assert fused.item() == pytest.approx(apart.item(), rel=1e-12)
    np.testing.assert_allclose(scatter(fused)[x], scatter(apart)[x], rtol=1e-9, atol=1e-12)
    far = Tensor(np.array([[0.0, 2000.0]]))
    loss = module("softmax_cross_entropy")(far, np.array([0]))
    assert loss.item() == 2000 and scatter(loss)[far].tolist() == [[-1, 1]]


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((4, 2, 3), (3,)), ((3,), (4, 3, 2))])
def test_vectors_are_rows_and_columns(shapes):
    gradcheck(module("batched_matmul"), [RANDOM.normal(size=shape) for shape in shapes])


def test_a_mask_may_be_numbers_and_they_may_be_learned():
    attend = module("dot_product_attention")
    q, k, v = RANDOM.normal(size=(3, 2, 5, 4))
    gradcheck(attend, [q, k, v, RANDOM.normal(size=(5, 5))])
    seen = RANDOM.random((5, 5)) < 0.6
    by_truth, by_number = attend(q, k, v, seen).value, attend(q, k, v, np.where(seen, 0, -np.inf)).value
    np.testing.assert_array_equal(by_truth, by_number)


@pytest.mark.parametrize("name", ["dot_product_attention", "additive_attention"])
def test_a_query_that_sees_no_key_gives_nothing_and_learns_nothing(name):
    attend = module(name, *((4, 4) if name == "additive_attention" else ()))
    q, k, v = (Tensor(each) for each in RANDOM.normal(size=(3, 1, 3, 4)))
    seen = np.array([[True, False, True], [False, False, False], [True, True, True]])
    y = attend(q, k, v, seen)
    assert (y.value[0, 1] == 0).all() and np.isfinite(y.value).all()
    found = scatter((y * y).sum())
    assert all(np.isfinite(found[each]).all() for each in (q, k, v)) and (found[q][0, 1] == 0).all()


def test_causal_attention_is_attention_with_a_mask_and_never_sees_what_comes():
    q, k, v = RANDOM.normal(size=(3, 2, 6, 4))
    causal, plain = module("dot_product_attention", causal=True), module("dot_product_attention")
    np.testing.assert_allclose(causal(q, k, v).value, plain(q, k, v, np.tri(6, dtype=bool)).value, rtol=1e-12)
    changed = k.copy()
    changed[:, 4:] += 1
    np.testing.assert_array_equal(causal(q, k, v).value[:, :4], causal(q, changed, v).value[:, :4])
    np.testing.assert_allclose(causal(q[:, 4:], k, v).value, causal(q, k, v).value[:, 4:], rtol=1e-12)


def test_turned_vectors_fit_by_their_distance_alone():
    q, k = RANDOM.normal(size=(2, 1, 8))
    products = [(module("rotary", offset=place)(q).value @ module("rotary", offset=place + 3)(k).value.T).item()
                for place in (0, 5, 100)]
    assert products == pytest.approx([products[0]] * 3)


def test_dropout_keeps_the_mean_in_training_and_does_nothing_outside_it():
    drop, x = module("dropout", rate=0.25, seed=0), np.ones((200, 200), np.float32)
    y = drop(x).value
    assert set(np.unique(y)) == {0, np.float32(1 / 0.75)} and y.mean() == pytest.approx(1, abs=0.02)
    assert (drop(x).value != y).any() and (drop.train(False)(x).value == 1).all()


@pytest.mark.parametrize("name", ["elman", "ugrnn", "gru", "lstm"])
def test_a_layer_is_its_cell_step_by_step(name):
    layer, cell = module(name, 3, 5, random=np.random.default_rng(0)), module(f"{name}_cell", 3, 5)
    for parameter in layer.to(np.float64).parameters():
        parameter.value += RANDOM.normal(0, 0.1, parameter.shape)
    cell.load({key: each.value for key, each in layer.named_parameters().items()})
    cell.to(np.float64)
    cell.load({key: each.value for key, each in layer.named_parameters().items()})
    x = Tensor(RANDOM.normal(size=(2, 6, 3)))
    y, *last = layer(x)
    states, steps = tuple(layer.start(2)), []
    for t in range(6):
        states = cell(x[:, t], *states)
        states = states if isinstance(states, tuple) else (states,)
        steps.append(states[0].reshape(2, 1, 5))
    z = module("concatenate", axis=1)(*steps)
    np.testing.assert_allclose(y.value, z.value, rtol=1e-12)
    np.testing.assert_allclose(last[-1].value, states[-1].value, rtol=1e-12)
    ours, theirs = scatter((y * y).sum()), scatter((z * z).sum())
    np.testing.assert_allclose(ours[x], theirs[x], rtol=1e-10, atol=1e-14)
    for key, parameter in layer.named_parameters().items():
        np.testing.assert_allclose(ours[parameter], theirs[cell.named_parameters()[key]], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", ["elman", "ugrnn", "gru", "lstm"])
def test_truncated_is_the_gradient_of_pieces_with_constant_states_between(name):
    layer = module(name, 3, 5, reach=3, random=np.random.default_rng(0)).to(np.float64)
    x = Tensor(RANDOM.normal(size=(2, 8, 3)))
    y, *_ = layer(x)
    cut = scatter((y * y).sum())
    layer.reach, states, total = None, layer.start(2), 0
    pieces = [Tensor(x.value[:, start:start + 3]) for start in (0, 3, 6)]
    for piece in pieces:
        y, *last = layer(piece, *states)
        states, total = [each.value for each in last], total + (y * y).sum()
    apart = scatter(total)
    np.testing.assert_allclose(cut[x], np.concatenate([apart[piece] for piece in pieces], axis=1), rtol=1e-10)
    for parameter in layer.parameters():
        np.testing.assert_allclose(cut[parameter], apart[parameter], rtol=1e-10)


def test_a_block_as_in_gpt2_is_right_too():
    block = module("transformer_block", 6, heads=3, norm="layer", rotary=None, dropout=0.3,
                   random=np.random.default_rng(0))
    gradcheck(block, [RANDOM.normal(size=(2, 3, 6))])


@pytest.mark.parametrize("name", ["elman", "lstm", "transformer_block", "linear", "layer_norm", "softmax"])
def test_modules_accept_empty_batches(name):
    example, inputs = find("engine/modules", name).example(np.random.default_rng(0))
    y = example.to(np.float64)(*(Tensor(each[:0]) for each in inputs))
    first = y[0] if isinstance(y, tuple) else y
    assert len(first.value) == 0
    first.sum().backward()


def test_pooling_works_over_one_axis():
    gradcheck(module("max_pooling", size=3), [RANDOM.normal(size=(2, 7))])
    gradcheck(module("mean_pooling", size=3, stride=1), [RANDOM.normal(size=(2, 7))])


@pytest.mark.parametrize(("work", "said"), [
    (lambda: module("embedding", 5, 2)(np.array([1, 5])), "ids from 1 to 5, expected 0 to 4"),
    (lambda: module("embedding", 5, 2)(np.array([1.0])), "type float64, expected whole ones"),
    (lambda: module("dropout", rate=1.0), r"Dropout.rate = 1.0, expected at least 0 and less than 1"),
    (lambda: module("multi_head_attention", 6, heads=4), "heads = 4, expected a divisor of width 6"),
    (lambda: module("self_attention", heads=2)(np.ones((1, 2, 9))), "expected .batch, time, a multiple of 6"),
    (lambda: module("lstm", 3, 5)(np.ones((2, 4, 2), np.float32)), r"\(2, 4, 2\), expected \(batch, time, 3\)"),
    (lambda: module("lstm", 3, 5, reach=0), "LSTM.reach = 0, expected at least 1"),
    (lambda: module("mlp", 3, activation="gelo"), "Did you mean 'gelu'"),
    (lambda: module("convolution_1d", 3, 2)(np.ones((1, 2, 9), np.float32)), r"expected \(batch, 3, length\)"),
    (lambda: module("convolution_2d", 3, 2, stride=(1, 1, 1)), "at least 1 for each of 2 axes"),
    (lambda: module("max_pooling", size=5)(np.ones((2, 3))), r"a window of \(5,\) was put over shape \(2, 3\)"),
    (lambda: module("matmul")(np.ones((2, 3)), np.ones(3)), r"\(2, 3\) and \(3,\), expected \(m, k\) and \(k, n\)"),
    (lambda: module("dot_product_attention")(*np.ones((2, 2, 3)), np.ones((4, 3))), r"expected queries \(…, Q, E\)"),
    (lambda: module("silu_gate")(np.ones(3)), "expected a last axis of even length"),
])
def test_mistakes_of_modules_are_reported_in_one_line(work, said):
    with pytest.raises(UsageError, match=said):
        work()
