"""Pictures of computation graphs have the numbers of the lecture, in each of three formats."""

from xml.etree import ElementTree

import numpy as np
import pytest

from chainrule.engine import Tensor, graph
from chainrule.engine.graph_examples import neuron, product
from chainrule.recipe.registry import find, names


def numbers(picture):
    """(label, value, gradient) of every node that has a gradient, in order."""
    return [(node.label, float(node.value), float(node.gradient)) for node in picture.nodes if node.gradient]


def test_the_product_of_a_sum():
    assert numbers(graph(product())) == [("x", -2, -4), ("y", 5, -4), ("Add", 3, -4), ("z", -4, 3),
                                         ("Multiply", -12, 1)]


def test_the_sigmoid_neuron_gate_by_gate():
    """Karpathy 2015, CS231n "Backpropagation, intuitions": two decimals on the blackboard."""
    board = [("w0", 2.00, -0.20), ("x0", -1.00, 0.39), ("Multiply", -2.00, 0.20), ("w1", -3.00, -0.39),
             ("x1", -2.00, -0.59), ("Multiply", 6.00, 0.20), ("Add", 4.00, 0.20), ("w2", -3.00, 0.20),
             ("Add", 1.00, 0.20), ("Multiply", -1.00, -0.20), ("Exp", 0.37, -0.53), ("Add", 1.37, -0.53),
             ("Divide", 0.73, 1.00)]
    found = numbers(graph(neuron()))
    assert [(label, round(value, 2), round(gradient, 2)) for label, value, gradient in found] == board
    constants = [node for node in graph(neuron()).nodes if not node.gradient]
    assert [node.value for node in constants] == ["-1", "1", "1"]


def test_the_gates_together_are_the_sigmoid_module():
    w, x = Tensor(np.array([2.0, -3.0, -3.0])), np.array([-1.0, -2.0, 1.0])
    y = find("engine/modules", "sigmoid")()((w * x).sum())
    y.backward()
    assert y.item() == pytest.approx(neuron().item())
    np.testing.assert_allclose(w.grad, [-0.1966, -0.3932, 0.1966], atol=1e-4)


def test_each_format_has_every_node_and_edge():
    picture = graph(neuron())
    dot, mermaid, svg = picture.dot(), picture.mermaid(), picture.svg()
    assert dot.startswith("digraph {") and dot.count(" -> ") == mermaid.count(" --> ") == len(picture.edges) == 15
    assert r'n0 [label="w0\nvalue 2\ngradient -0.1966" style=rounded]' in dot
    assert 'n2["Multiply<br>value -2<br>gradient 0.1966"]' in mermaid
    root = ElementTree.fromstring(svg)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(node.label in texts and node.value in texts for node in picture.nodes)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 15


def test_boxes_do_not_lie_on_each_other():
    root = ElementTree.fromstring(graph(neuron()).svg())
    boxes = [tuple(float(node.get(key)) for key in ("x", "y", "width", "height"))
             for node in root.iter("{http://www.w3.org/2000/svg}rect") if node.get("x")]
    assert len(boxes) == 16
    for n, (x, y, width, height) in enumerate(boxes):
        for u, v, *_ in boxes[n + 1:]:
            assert not (x <= u < x + width and y <= v < y + height)


def test_edges_go_from_left_to_right_and_every_module_can_be_drawn():
    for name in names("engine/modules"):
        module, inputs = find("engine/modules", name).example(np.random.default_rng(0))
        module.to(np.float64)
        y = module(*map(Tensor, inputs))
        loss = sum((each * each).sum() for each in (y if isinstance(y, tuple) else (y,)))
        picture = graph(loss, module)
        assert all(picture.nodes[a].column < picture.nodes[b].column for a, b in picture.edges)
        labels = {node.label for node in picture.nodes}
        assert set(module.named_parameters()) <= labels and "nan" not in picture.svg()
        assert all(each.grad is None for each in module.parameters()), "looking changes nothing"


def test_special_characters_in_names_are_escaped():
    x = Tensor(1.0, name='a "quoted" <b> & name')
    picture = graph(x * 2.0)
    ElementTree.fromstring(picture.svg())
    assert r'a \"quoted\" <b> & name' in picture.dot() and "a #quot;quoted#quot; #lt;b> & name" in picture.mermaid()
    assert len(graph(Tensor(3.0)).nodes) == 1 and "<svg" in graph(Tensor(3.0)).svg()
