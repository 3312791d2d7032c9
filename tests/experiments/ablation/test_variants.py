"""A recipe and its changes become variants: alone, in pairs or all together; what the base has is not repeated."""

import pytest

from chainrule.errors import UsageError
from chainrule.experiments.ablation.terms import AblationTerms
from chainrule.experiments.ablation.variants import variants


def names(*words, **more):
    return [each.name for each in variants(words, AblationTerms(**more)).entries]


def test_the_base_and_each_change_alone():
    found = variants(["ngram", "model.order=2,3", "model.compact=true"], AblationTerms())
    assert [(each.name, each.changes) for each in found.entries] == [
        ("ngram", ()), ("order=2", ("model.order=2",)), ("order=3", ("model.order=3",)),
        ("compact=true", ("model.compact=true",))]
    assert [each.folder for each in found.entries] == ["ngram", "order-2", "order-3", "compact-true"]


def test_all_pairs_are_of_different_options():
    assert names("ngram", "model.order=2,3", "model.compact=true", combine="pairs") == [
        "ngram", "order=2", "order=3", "compact=true", "order=2 + compact=true", "order=3 + compact=true"]


def test_a_grid_has_every_combination():
    three = ["model.order=2,3", "model.compact=true", "model.smoothing=witten_bell"]
    found = names("ngram", *three, combine="grid")
    assert len(found) == len(set(found)) == 3 * 2 * 2
    assert "order=3 + compact=true + smoothing=witten_bell" in found


def test_a_value_that_the_base_has_is_not_trained_twice():
    found = variants(["transformer", "model.f.name=mlp,geglu,swiglu", "model.norm=rms,layer"],
                     AblationTerms(combine="pairs"))
    assert [each.name for each in found.entries] == [
        "transformer", "f=mlp", "f=geglu", "norm=layer", "f=mlp + norm=layer", "f=geglu + norm=layer"]
    assert found.rows == {"model.f.name=mlp": "f=mlp", "model.f.name=geglu": "f=geglu",
                          "model.f.name=swiglu": "transformer", "model.norm=rms": "transformer",
                          "model.norm=layer": "norm=layer"}


def test_the_same_change_written_twice_is_one_variant():
    assert names("transformer", "model.f=mlp", "model.f.name=mlp") == ["transformer", "f=mlp"]


def test_changes_for_all_are_part_of_the_base():
    found = variants(["transformer", "model.norm=rms,layer"], AblationTerms(changes=["model.norm=layer"]))
    assert found.rows == {"model.norm=rms": "norm=rms", "model.norm=layer": "transformer"}
    assert [each.resolved(()).recipe.model.norm["name"] for each in found.entries] == ["layer", "rms"]
    with pytest.raises(UsageError, match="^transformer: no option model.nrm. Did you mean 'norm'?"):
        variants(["transformer", "model.norm=rms,layer"], AblationTerms(changes=["model.nrm=layer"]))


def test_commas_inside_brackets_belong_to_a_value():
    assert names("transformer", "model.s={name: attention, heads: 2},{name: attention, heads: 8}") == [
        "transformer", "s={name: attention, heads: 2}", "s={name: attention, heads: 8}"]


def test_random_orders_are_drawn():
    found = variants(["transformer", "model.pattern=random:4:s*3f*3,(sf)*3"], AblationTerms())
    assert len(found.entries) in (4, 5) and len(found.drawn) == 4  # (sf)*3 is the base, and may be among those drawn
    for each in found.entries[1:]:
        assert each.changes[0] in found.drawn


@pytest.mark.parametrize(("words", "message"), [
    (["model.order=2"], "ablate needs one recipe, for example: chainrule ablate transformer"),
    (["ngram", "lstm", "model.order=2"], "ablate needs one recipe, got 2: ngram, lstm, for example"),
    (["ngram"], "ablate needs changes of ngram, for example"),
    (["ngrm", "model.order=2"], "no recipe named 'ngrm'. Did you mean 'ngram'"),
    (["ngram", "model.order=2,,3"], "^model.order=2,,3: expected a path and its values"),
    (["transformer", "model.norm=rms"], "^model.norm=rms: transformer has that already, expected at least one change"),
    (["transformer", "model.pattern=random:s*8f*8"], "expected a number and a pattern, such as model.pattern="),
    (["transformer", "model.pattern=random:0:s*8f*8"], "count = 0, expected at least 1"),
])
def test_what_is_no_ablation_is_refused(words, message):
    with pytest.raises(UsageError, match=message):
        variants(words, AblationTerms())


def test_all_misspelt_paths_and_parts_are_named_at_once_in_a_line_each():
    with pytest.raises(UsageError) as error:
        variants(["transformer", "model.nrm=layer,rms", "model.f=mlpp", "model.width=129"], AblationTerms())
    assert str(error.value).split("\n") == [
        "model.nrm=layer: no option model.nrm. Did you mean 'norm'?",
        "model.f=mlpp: no mixer named 'mlpp'. Did you mean 'mlp'?",
        "model.width=129: model.s.heads = 4, expected a divisor of width 129."]
