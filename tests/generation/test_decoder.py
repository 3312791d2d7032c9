"""The decode loop: what it may write, when it ends, and that rows do not disturb one another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import History, random_bigram

from chainrule.errors import ChainruleError, UsageError
from chainrule.generation.choosing import mask_special_tokens
from chainrule.generation.decoder import Decoder, decode
from chainrule.generation.rows import Marks
from chainrule.recipe.registry import build, names

MARKS = Marks(start=1, end=2, unknown=0)


def run(model, prompts, strategy, *, max_tokens=7, filters=(), stops=None):
    return decode(model, np.array(prompts), build("generation/strategies", strategy), marks=MARKS, stops=stops,
                  max_tokens=max_tokens, filters=[build("generation/filters", f) for f in filters])


@pytest.mark.parametrize("name", names("generation/strategies"))
def test_neither_the_start_mark_nor_the_unknown_is_written(name):
    model = random_bigram(11, seed=2)
    model.log_p_VV = np.log(np.full((11, 11), 0.01))
    model.log_p_VV[:, :2] = np.log(0.4)
    for found in run(model, [[3]] * 20, name):
        assert all(id > 1 for draft in found for id in draft.written)


@pytest.mark.parametrize("name", names("generation/strategies"))
def test_the_unknown_is_written_where_nothing_else_is_possible(name):
    model = random_bigram(4)
    model.log_p_VV = np.full((4, 4), -np.inf)
    model.log_p_VV[1, 0] = model.log_p_VV[0, 3] = model.log_p_VV[3, 2] = 0.0
    assert run(model, np.zeros((1, 0)), name)[0][0].ids == (0, 3, 2)


def test_the_loop_s_mask_changes_two_columns_of_a_copy():
    log_p_BV = np.log(np.random.default_rng(0).dirichlet(np.ones(5), size=3))
    before = log_p_BV.copy()
    masked = mask_special_tokens(log_p_BV, MARKS)
    assert (log_p_BV == before).all()
    assert (masked[:, :2] == -np.inf).all()
    assert (masked[:, 2:] == before[:, 2:]).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.integers(0, 2**64 - 1), st.integers(2, 6))
def test_a_sample_does_not_depend_on_those_beside_it(model_seed, seed, count):
    model = History(8, model_seed)
    choice = {"name": "sample", "seed": seed}
    many = run(model, [[3, 4]] * count, choice, filters=["repetition_penalty", "top_p"])
    few = run(model, [[3, 4]], choice, filters=["repetition_penalty", "top_p"])
    assert many[0] == few[0]


@pytest.mark.parametrize("name", names("generation/strategies"))
def test_a_prompt_is_continued_the_same_in_any_batch(name):
    """Rows end at different times and are taken out of the batch; the others must go on undisturbed."""
    model = History(6, seed=3)
    prompts = [[3, 4, 5], [4, 4, 4], [5, 3, 3], [3, 3, 5]]
    together = run(model, prompts, name, max_tokens=9)
    if name != "sample":  # a sample's draws belong to its row
        alone = [run(model, [prompt], name, max_tokens=9)[0] for prompt in prompts]
        assert [[d.ids for d in found] for found in together] == [[d.ids for d in found] for found in alone]
    for found in together:
        for draft in found:
            np.testing.assert_allclose(draft.log_p, sum(
                mask_special_tokens(model.row(draft.ids[:t])[None], MARKS)[0, draft.ids[t]]
                for t in range(3, len(draft.ids))))


def test_the_same_seed_gives_the_same_texts_and_another_seed_others():
    model = History(50, seed=1)
    first, again, other = (run(model, [[3]] * 5, {"name": "sample", "seed": seed}) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({found[0].ids for found in first}) == 5


def test_a_text_ends_at_its_end_mark_a_stop_or_the_limit():
    model = History(5, seed=0)
    rows = run(model, [[3]] * 60, "sample", max_tokens=4, stops=lambda ids, read: ids[read:][-2:].tolist() == [4, 3])
    found = [draft for row in rows for draft in row]
    assert {d.reason for d in found} == {"end", "stop", "length"}
    for draft in found:
        written = draft.written
        assert 2 not in written[:-1]
        assert (written[-1] == 2) == (draft.reason == "end")
        assert (written[-2:] == (4, 3)) == (draft.reason == "stop")
        assert draft.reason != "length" or len(written) == 4


def test_filters_act_in_their_order_on_what_was_read():
    model = History(9, seed=0)
    assert run(model, [[3]], "sample", filters=[{"name": "top_k", "k": 1}]) == run(
        model, [[3]], {"name": "sample", "seed": 9}, filters=["temperature", {"name": "top_k", "k": 1}])
    harsh = run(model, [[3, 4, 5]], "greedy", filters=[{"name": "repetition_penalty", "penalty": 1e6}])[0][0]
    assert len(harsh.written) > 1
    assert len(set(harsh.ids)) == len(harsh.ids)


def test_a_limit_of_no_tokens_is_refused():
    with pytest.raises(UsageError, match=r"max_tokens = 0, expected at least 1."):
        run(History(5), [[3]], "greedy", max_tokens=0)


def test_a_model_that_gives_nan_is_named_as_broken():
    model = random_bigram(5)
    model.log_p_VV = np.full((5, 5), np.nan)
    with pytest.raises(ChainruleError, match="the model gives NaN as a probability"):
        run(model, [[3]], "greedy")


def bigram_with_join(seed=0):
    """A model whose rows can join a running batch."""
    model = random_bigram(9, seed=seed)
    model.join = np.concatenate
    return model


def stepping(model, strategy="sample", filters=(), stops=None):
    return Decoder(model, build("generation/strategies", strategy), MARKS,
                   [build("generation/filters", each) for each in filters], stops)


@pytest.mark.parametrize("make", [bigram_with_join, lambda: History(9, seed=2)], ids=["joined", "side by side"])
def test_rows_that_are_added_at_any_time_write_what_they_write_alone(make):
    decoder = stepping(make(), filters=["repetition_penalty"])
    prompts = {0: [3, 4], 1: [5], 2: [6, 7, 8], 3: []}
    decoder.add([prompts[0], prompts[1]], 9)
    written = decoder.step() + decoder.step()
    assert decoder.add([prompts[2]], 9) == [2]
    written += decoder.step()
    decoder.add([prompts[3]], 9, [3])
    while decoder.live:
        written += decoder.step()
    for number, prompt in prompts.items():
        alone = stepping(make(), filters=["repetition_penalty"])
        alone.add([prompt], 9, [number])
        while alone.live:
            alone.step()
        assert decoder.results(number) == alone.results(number)
        added = [each for each in written if each.number == number]
        assert tuple(id for each in added for id in each.ids) == decoder.results(number)[0].written
        assert [each.reason for each in added][-1] == decoder.results(number)[0].reason


def test_a_row_that_is_removed_leaves_no_result_and_the_others_alone():
    model = bigram_with_join()
    decoder, other = stepping(model), stepping(model)
    decoder.add([[3], [4], [5]], 20)
    other.add([[3], [5]], 20, [0, 2])
    decoder.step()
    decoder.remove([1])
    while decoder.live:
        decoder.step()
    while other.live:
        other.step()
    assert decoder.results(1) == []
    assert decoder.results(0) == other.results(0) and decoder.results(2) == other.results(2)
    decoder.add([[3]], 5, [7])
    decoder.remove([7])
    assert decoder.live == 0 and decoder.step() == []


def test_the_log_probability_of_a_text_is_the_model_s_own_before_any_filter():
    model = History(9, seed=3)
    for drafts in run(model, [[3, 4]] * 4, "sample", filters=[{"name": "top_k", "k": 2}, "temperature"]):
        scores = model.score(np.array([drafts[0].ids]))[0]
        assert drafts[0].model_log_p == pytest.approx(scores[2:].sum())
