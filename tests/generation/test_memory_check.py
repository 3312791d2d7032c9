"""A number that cannot be meant is refused before memory is full; what has room is not."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import Words, random_bigram

from chainrule.errors import OptionError
from chainrule.generation import memory_check
from chainrule.generation.generate import generate

WORDS = Words(["the", "cat", "sat", "on"])


@pytest.mark.parametrize(("how", "words"), [
    ({"num": 10**12}, r"num = 1000000000000, expected at most [\d,]+: more do not fit in the [\d,]+ GB of memory"),
    ({"strategy": {"name": "beam", "beams": 10**12}}, r"beams = 1000000000000, expected at most [\d,]+: more do"),
])
def test_more_than_this_machine_can_hold_is_refused_at_once(how, words):
    with pytest.raises(OptionError, match=words):
        generate(random_bigram(7), WORDS, **how)


@settings(deadline=None, max_examples=60)
@given(size=st.integers(2, 200_000), have=st.integers(10**6, 10**12))
def test_the_number_in_the_message_is_the_largest_that_is_let_through(size, have):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_check, "memory", lambda: have)
        with pytest.raises(OptionError) as caught:
            memory_check.check_beams(10**15, size)
        most = int(caught.value.expected.split()[2].rstrip(":").replace(",", ""))
        if most > 1:
            memory_check.check_beams(most - 1, size)  # up to what whole numbers lose
        with pytest.raises(OptionError):
            memory_check.check_beams(most + 2, size)


def test_memory_of_texts_and_beams_is_about_the_estimate():
    """Neither a tenth nor three times: measured on 400 texts of 100 tokens, and on 300 beams of 600 words."""
    words = Words([f"w{n}" for n in range(600)])
    model = random_bigram(words.vocabulary_size, sharpness=0.1)
    taken = {}
    for name, how in (("texts", {"num": 400, "max_tokens": 100}),
                      ("beams", {"strategy": {"name": "beam", "beams": 300}, "max_tokens": 3})):
        tracemalloc.start()
        found = generate(model, words, **how)
        taken[name] = tracemalloc.get_traced_memory()[name == "beams"]  # now; at most
        tracemalloc.stop()
        assert found
    estimated = {"texts": 400 * (memory_check.TEXT + 100 * memory_check.TOKEN),
                 "beams": 300 * (602 * memory_check.SCORE + 301 * memory_check.DRAFT)}
    for name, size in estimated.items():
        assert size / 10 < taken[name] < 3 * size, (name, taken[name], size)
