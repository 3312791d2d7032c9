"""What all tokenizers share: which words of a text they never saw."""

from toys import Bytes, Words

from chainrule.text.tokenizer import unseen_words


def test_unseen_words_are_named_once_each():
    words = Words(["the", "cat", "sat", "on", "a", "mat", ".", "and", ",", "dog"])
    assert unseen_words(words, "the zebra sat on a zebra ,x") == ["zebra", ",x"]
    assert unseen_words(Bytes(), "zebra") == []
