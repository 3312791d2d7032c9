"""From a prompt to text: spaces, stop strings, counts of texts, and generating without torch or Numba."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import Bytes, History, Words, random_bigram

from chainrule.errors import UsageError
from chainrule.generation.generate import continuation, cut, generate, stop_finder

WORDS = Words(["the", "cat", "sat", "on", "a", "mat", ".", "and", ",", "dog"])
ROOT = Path(__file__).parents[2]


def model(seed=0, tokenizer=WORDS, **options):
    return History(tokenizer.vocabulary_size, seed, start=tokenizer.start, **options)


def test_sample_i_is_the_same_however_many_are_asked_for():
    strategy = {"name": "sample", "seed": 5}
    five = generate(model(), WORDS, "the cat", num=5, strategy=strategy)
    assert generate(model(), WORDS, "the cat", num=1, strategy=strategy) == five[:1]
    assert generate(model(), WORDS, "the cat", num=3, strategy=strategy) == five[:3]
    assert len({text.ids for text in five}) == 5


def test_texts_written_a_few_at_a_time_are_those_written_together(monkeypatch):
    together = generate(model(), WORDS, "the cat", num=7)
    monkeypatch.setattr("chainrule.generation.generate.AT_ONCE", 2 * WORDS.vocabulary_size)
    assert generate(model(), WORDS, "the cat", num=7) == together


def test_log_prob_is_the_model_s_own_whatever_the_filters():
    filters = [{"name": "temperature", "temperature": 0.7}, {"name": "top_k", "k": 4}, "repetition_penalty"]
    found = generate(model(3), WORDS, "the cat sat", num=4, max_tokens=9, filters=filters)
    for text in found:
        ids = [*WORDS.encode("the cat sat"), *text.ids]
        np.testing.assert_allclose(text.log_prob, model(3).score(np.array([ids]))[0, 3:].sum())


def test_words_are_joined_to_the_prompt_with_a_space():
    text = generate(model(), WORDS, "the cat", max_tokens=3, strategy="greedy")[0]
    assert text.text == "".join(f" {WORDS.token(id)}" for id in text.ids if id != WORDS.end)
    assert not generate(model(), WORDS, "", max_tokens=3, strategy="greedy")[0].text.startswith(" ")


def test_a_stop_string_and_what_follows_are_cut_off():
    found = generate(model(7), WORDS, "the", num=40, max_tokens=30, stop=["cat", " ."])
    assert {"stop", "end"} <= {text.reason for text in found}
    for text in found:
        assert "cat" not in text.text
        assert " ." not in text.text
        assert (text.reason == "stop") == (WORDS.token(text.ids[-1]) in ("cat", "."))


@settings(deadline=None, max_examples=60)
@given(st.text("aé😀 ", min_size=1, max_size=30), st.text("aé😀 ", min_size=1, max_size=3), st.text("a é", max_size=4))
def test_a_stop_is_found_with_the_token_that_completes_it(text, stop, prompt):
    """Against decoding everything after each token; characters of several bytes are cut by tokens of one byte."""
    tokenizer = Bytes()
    read = tokenizer.encode(prompt).tolist()
    written = tokenizer.encode(text).tolist()
    stops = stop_finder(tokenizer, [stop])
    for length in range(1, len(written) + 1):
        ids = (*read, *written[:length])
        expected = stop in continuation(tokenizer, ids, len(read))
        assert stops(np.array(ids), len(read)) == expected
        if expected:
            break


def test_the_first_stop_in_the_text_counts():
    assert cut("a b c d", ["d", "b"]) == "a "
    assert cut("a b c d", ["x"]) == "a b c d"


def test_beams_give_their_best_first():
    beams = {"name": "beam", "beams": 5, "length_penalty": 0.0}
    found = generate(model(2), WORDS, "the", num=3, max_tokens=6, strategy=beams)
    assert [text.log_prob for text in found] == sorted((text.log_prob for text in found), reverse=True)
    assert len({text.ids for text in found}) == 3


def test_bytes_that_are_no_character_are_shown_as_such():
    text = generate(model(1, Bytes()), Bytes(), "é", max_tokens=20)[0]
    assert text.text == bytes(id - 2 for id in text.ids if id > 1).decode(errors="replace")


@pytest.mark.parametrize(("options", "message"), [
    ({"num": 0}, r"num = 0, expected at least 1."),
    ({"num": 2, "strategy": "greedy"}, r"num = 2, expected at most 1: all that this strategy finds. Sampling"),
    ({"num": 3, "strategy": {"name": "beam", "beams": 2}}, r"num = 3, expected at most 2: all that this"),
    ({"stop": ["a", ""]}, r"stop = '', expected a text of at least one character."),
    ({"filters": [{"name": "top_k", "n": 3}]}, r"no option top_k.n. Known: k."),
])
def test_impossible_requests_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        generate(model(), WORDS, "the", **options)


def test_a_model_that_cannot_even_begin_gives_an_empty_text():
    dead = random_bigram(WORDS.vocabulary_size)
    dead.log_p_VV = np.full_like(dead.log_p_VV, -np.inf)
    text = generate(dead, WORDS)[0]
    assert (text.text, text.ids, text.reason) == ("", (), "stuck")


def test_generating_needs_neither_torch_nor_numba():
    """Each of the three strategies and five filters, in a process where importing either is an error."""
    script = """
import sys
sys.modules["torch"] = sys.modules["numba"] = None
from toys import History, Words
from chainrule.generation.generate import generate
from chainrule.recipe.registry import names
words = Words("the cat sat".split())
for strategy in names("generation/strategies"):
    print(generate(History(6), words, "the cat", strategy=strategy, filters=names("generation/filters"))[0].reason)
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3
