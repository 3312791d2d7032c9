"""Tables of tokens: factorized and adaptive ones by their equations, words left out, and tying with the head."""

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.models.cost.counting import parameters
from chainrule.models.given import Given
from chainrule.models.language import NeuralLanguageModel
from chainrule.models.shape import Shape
from chainrule.models.sizes import Sizes
from chainrule.models.stack import Stack
from chainrule.parts.place import Place
from chainrule.recipe.registry import build
from chainrule.training.weights import weights

torch.set_num_threads(1)
D, V = 18, 23
PLACE = Place(D, vocabulary=V, outputs=V)
IDS = torch.arange(V)[None]


def made(name, **options):
    torch.manual_seed(0)
    return build("parts/embeddings", {"name": name, **options}, PLACE).double()


@torch.no_grad()
def test_a_factorized_table_is_a_product_of_two():
    part = made("factorized", rank=5, scale="root")
    for token in range(V):
        expected = D**0.5 * sum(part.weight[token, k] * part.projection.weight[:, k] for k in range(5))
        torch.testing.assert_close(part(IDS)[0, token], expected)
    assert made("factorized").weight.shape == (V, D // 6)


@pytest.mark.parametrize("name", ["lookup", "factorized", "adaptive_input"])
def test_vectors_start_equally_large_in_all_tables(name):
    torch.manual_seed(0)
    part = build("parts/embeddings", {"name": name, "deviation": 0.1}, Place(96, vocabulary=4000))
    assert part(torch.arange(4000)[None]).std().item() == pytest.approx(0.1, rel=0.15)


@pytest.mark.parametrize("name", ["lookup", "factorized", "adaptive_input"])
def test_vectors_stay_precise_in_mixed_precision(name):
    with torch.autocast("cpu", torch.bfloat16):
        assert made(name).float()(IDS).dtype == torch.float32


@pytest.mark.parametrize(("cutoffs", "factor"), [((5, 11), 2.0), ((3,), 4.0), ((1, 4, 10, 22), 1.5)])
@torch.no_grad()
def test_adaptive_input_is_its_definition(cutoffs, factor):
    part = made("adaptive_input", cutoffs=cutoffs, factor=factor)
    bounds = [0, *cutoffs, V]
    for token in range(V):
        i = max(n for n in range(len(bounds) - 1) if bounds[n] <= token)
        expected = part.projections[i].weight @ part.tables[i][token - bounds[i]]
        torch.testing.assert_close(part(IDS)[0, token], expected)
    assert [table.shape[1] for table in part.tables] == [int(D / factor**i) for i in range(len(bounds) - 1)]


@pytest.mark.parametrize("name", ["lookup", "factorized"])
@torch.no_grad()
def test_word_dropout_leaves_out_whole_words_wherever_they_stand(name):
    part, whole = made(name, word_dropout=0.4), made(name)
    ids = torch.randint(V, (7, 31))
    y, expected = part(ids), whole(ids) / 0.6
    for token in range(V):
        mine = y[ids == token]
        assert not mine.any() or torch.allclose(mine, expected[ids == token]), "a word is there or not"
    gone = [token for token in range(V) if not y[ids == token].any()]
    assert 0 < len(gone) < V
    assert torch.equal(part.eval()(ids), whole(ids))


@torch.no_grad()
def test_a_tied_head_goes_back_through_the_projection():
    part = made("factorized", rank=5)
    head = build("parts/heads", {"name": "tied"}, PLACE, part).double()
    hidden = torch.randn(3, D, dtype=torch.float64)
    torch.testing.assert_close(head.scores(hidden), hidden @ part(IDS)[0].T)
    assert {id(each) for each in head.parameters()} == {id(each) for each in part.parameters()}


@pytest.mark.parametrize("embedding", [{"name": "adaptive_input", "cutoffs": (5, 11)}, "lookup",
                                       {"name": "factorized", "rank": 5}])
@torch.no_grad()
def test_a_tied_adaptive_softmax_scores_by_the_vectors_of_the_embedding(embedding):
    torch.manual_seed(0)
    part = build("parts/embeddings", embedding, PLACE).double()
    options = {} if hasattr(part, "tables") else {"cutoffs": (5, 11)}
    head = build("parts/heads", {"name": "adaptive_tied", **options}, PLACE, part).double()
    hidden = torch.randn(3, D, dtype=torch.float64)
    scores = hidden @ part(IDS)[0].T
    first = torch.cat([scores[:, :5], hidden @ head.clusters.weight.T], dim=1).softmax(1)
    expected = torch.cat([first[:, :5], first[:, 5:6] * scores[:, 5:11].softmax(1),
                          first[:, 6:] * scores[:, 11:].softmax(1)], dim=1)
    torch.testing.assert_close(head.log_probs(hidden).exp(), expected)
    assert sum(each.numel() for name, each in head.named_parameters() if name.startswith("clusters")) == 2 * D


SHAPES = {
    "all three tied": ("tied", True, 1), "encoder and decoder input": ("untied", True, 2),
    "decoder input and output": ("tied", False, 2), "nothing": ("untied", False, 3)}


@pytest.mark.parametrize("what", SHAPES)
def test_an_encoder_decoder_has_as_many_tables_as_are_not_tied(what):
    head, shared, tables = SHAPES[what]
    head = {"name": head, "bias": False}
    shape = Shape(pattern="sxf", width=16, head=head,
                  source=Shape(pattern="sf", width=16, causal=False, shared_embedding=shared))
    sizes = Sizes(V, V, source=Sizes(V, 0))
    apart = parameters(shape, Sizes(V + 1, V + 1, source=Sizes(V + 1, 0))) - parameters(shape, sizes)
    assert apart == 16 * tables, "one more token is one more row in each table"
    stack = Stack(shape, sizes)
    assert (stack.source.embedding is stack.embedding) == shared
    assert sum(each.numel() for each in weights(stack).values()) == parameters(shape, sizes)


@pytest.mark.parametrize(("embedding", "head"), [
    ("factorized", "tied"), ("factorized", "untied"), ("adaptive_input", "adaptive_tied"),
    ("adaptive_input", "adaptive"), ("lookup", "adaptive_tied"),
    ("factorized", {"name": "mixture_of_softmaxes", "components": 3})])
@pytest.mark.parametrize("causal", [True, False])
def test_they_are_read_in_language_models_encoders_and_sources_alike(embedding, head, causal):
    torch.manual_seed(0)
    shape = Shape(pattern="sf", width=16, context=8, embedding=embedding, head=head, causal=causal)
    stack = Stack(shape, V)
    ids = torch.randint(V, (2, 7))
    stack.head.loss(stack(ids)[0], ids).backward()
    assert all(each.grad is not None for each in stack.parameters())
    both = Shape(pattern="sxf", width=16, context=8, embedding=embedding, head=head,
                 source=Shape(pattern="sf", width=16, context=8, embedding=embedding, causal=False,
                              shared_embedding=causal))
    pair = Stack(both, Sizes(V, V, source=Sizes(V, 0)))
    pair.head.loss(pair(ids, given=Given(torch.randint(V, (2, 5))))[0], ids).backward()
    assert all(each.grad is not None for each in pair.parameters())
    if causal:
        model = NeuralLanguageModel(stack.eval(), 0)
        assert model.token_vectors().shape == (V, 16)
        state, scores = model.start(2), model.score(ids)
        for t, column in enumerate(ids.T):
            torch.testing.assert_close(model.log_probs(state).gather(1, column[:, None])[:, 0], scores[:, t])
            state = model.advance(state, column)


@pytest.mark.parametrize(("name", "options", "words"), [
    ("factorized", {"rank": 0}, "Factorized.rank = 0, expected at least 1, or null for a sixth"),
    ("factorized", {"word_dropout": 1.0}, "Factorized.word_dropout = 1.0, expected at least 0 and less than 1"),
    ("lookup", {"word_dropout": -0.1}, "Lookup.word_dropout = -0.1, expected at least 0 and less than 1"),
    ("adaptive_input", {"cutoffs": (9, 5)}, r"AdaptiveInput.cutoffs = \[9, 5\], expected numbers that grow, from 1 to"),
    ("adaptive_input", {"factor": 0.5}, "AdaptiveInput.factor = 0.5, expected at least 1")])
def test_options_that_cannot_be(name, options, words):
    with pytest.raises(OptionError, match=words):
        made(name, **options)


def test_heads_that_do_not_fit_the_tables_say_which_do():
    clusters = made("adaptive_input", cutoffs=(5, 11))
    with pytest.raises(OptionError, match="model.head = 'tied', expected 'adaptive_tied' or 'untied' here. Tokens"):
        build("parts/heads", "tied", PLACE, clusters)
    with pytest.raises(OptionError, match=r"AdaptiveTied.cutoffs = \[4, 9\], expected \[5, 11\], as in model"):
        build("parts/heads", {"name": "adaptive_tied", "cutoffs": (4, 9)}, PLACE, clusters)
    with pytest.raises(OptionError, match="model.head = 'adaptive_tied', expected 'adaptive' here. The outputs are"):
        build("parts/heads", "adaptive_tied", Place(D, vocabulary=V, outputs=V + 1), made("lookup"))
