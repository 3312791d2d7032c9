"""Words from characters: each part against its equation, and padding that changes nothing."""

import logging
from types import SimpleNamespace

import pytest
import torch

from chainrule.errors import OptionError
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

PLACE = Place(width=11, vocabulary=13, features=(5, 17, 0, 0))
PARTS = ("words_by_convolution", "words_by_lstm")


def made(name, place=PLACE, **options):
    torch.manual_seed(0)
    return build("parts/embeddings", {"name": name, "word_width": 7, "character_width": 3, **options}, place).double()


def inputs():
    """Two rows of three words; characters are 2 … 3, then 0."""
    return torch.tensor([[[4, 0, 2, 9, 3, 0, 0], [0, 0, 2, 9, 8, 7, 3], [5, 0, 2, 3, 0, 0, 0]],
                         [[1, 0, 2, 16, 16, 3, 0], [12, 0, 2, 6, 3, 0, 0], [0] * 7]])


def by_the_definition(part, characters):
    """One word at a time: the largest value of each filter over the windows around its characters."""
    nothing = torch.zeros(3, dtype=torch.float64)
    spelled = [part.characters[each] for each in characters]
    found = []
    for each in part.filters:
        half = each.kernel_size[0] // 2
        windows = [torch.stack(([nothing] * half + spelled + [nothing] * half)[t:t + 2 * half + 1], 1)
                   for t in range(len(spelled))]
        found.append(torch.stack([(each.weight * window).sum((1, 2)) + each.bias for window in windows]).relu().amax(0))
    return torch.cat(found)


@pytest.mark.parametrize("widths", [[3], [1, 5]])
def test_convolutions_agree_with_the_definition(widths):
    part = made("words_by_convolution", widths=widths, filters=2)
    found = part(inputs())
    for row, column, characters in ((0, 0, [2, 9, 3]), (0, 1, [2, 9, 8, 7, 3]), (1, 1, [2, 6, 3])):
        word = inputs()[row, column, 0]
        expected = part.outward(torch.cat([part.words[word], by_the_definition(part, characters)]))
        torch.testing.assert_close(found[row, column], expected)


def test_lstms_end_at_the_last_and_at_the_first_character():
    part = made("words_by_lstm", hidden=2)
    found = part(inputs())
    for row, column, characters in ((0, 0, [2, 9, 3]), (1, 0, [2, 16, 16, 3])):
        x = part.characters[torch.tensor(characters)][None]
        ends = [cell.fused(own)[1][0][0, 0] for cell, own in ((part.forward_cell, x), (part.reversed_cell, x.flip(1)))]
        expected = part.outward(torch.cat([part.words[inputs()[row, column, 0]], *ends]))
        torch.testing.assert_close(found[row, column], expected)


@pytest.mark.parametrize("name", PARTS)
def test_more_padding_behind_a_word_changes_nothing(name):
    part, given = made(name), inputs()
    wider = torch.cat([given, torch.zeros(2, 3, 2, dtype=torch.long)], dim=-1)
    torch.testing.assert_close(part(wider)[0], part(given)[0])


@pytest.mark.parametrize("name", PARTS)
def test_vectors_that_were_learned_before_are_filled_in_and_stay(name, tmp_path, caplog):
    (tmp_path / "v.txt").write_text("cow 1 2 3\nzebu 4 5 7\n")
    part = made(name, Place(width=11, vocabulary=3, features=(5, 17, 3, 3)))
    known = SimpleNamespace(facts={"inputs": {"words": ["cow", "the"], "vectors": {
        "source": str(tmp_path / "v.txt"), "words": ["cow", "zebu"]}}})
    with caplog.at_level(logging.INFO, "chainrule"):
        part.begin(known)
    table = torch.tensor([[1., 2, 3], [4, 5, 7]])
    torch.testing.assert_close(part.learned_before.float(), torch.cat([torch.zeros(1, 3), table / table.std()]))
    assert not part.learned_before.requires_grad and "1 of 2 words have a vector" in caplog.text
    given = torch.tensor([[[1, 1, 2, 9, 3, 0, 0], [1, 2, 2, 9, 3, 0, 0]]])
    assert not torch.allclose(part(given)[0, 0], part(given)[0, 1]), "only the vector differs"


@pytest.mark.parametrize("name, options, words", [
    ("words_by_convolution", {"widths": [2]}, "widths = .*2.*, expected odd numbers"),
    ("words_by_convolution", {"filters": 0}, "filters = 0, expected at least 1"),
    ("words_by_lstm", {"hidden": 0}, "hidden = 0, expected at least 1"),
    ("words_by_lstm", {"word_width": 0}, "word_width = 0, expected at least 1")])
def test_options_that_cannot_be(name, options, words):
    with pytest.raises(OptionError, match=words):
        made(name, **options)


@pytest.mark.parametrize("name", PARTS)
def test_other_inputs_are_refused(name):
    with pytest.raises(OptionError, match=f"model.embedding = '?{name}'?, expected lookup .* task.inputs=words"):
        made(name, Place(width=11, vocabulary=13))
