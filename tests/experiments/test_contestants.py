"""Words on the command line become rows with names of their own; what cannot be read or built is refused."""

import pytest

from chainrule.errors import UsageError
from chainrule.experiments.contestants import check_recipes, choices, contestants, one_task


def names(*words, **more):
    return [each.name for each in contestants(words, **more)]


def test_changes_belong_to_the_recipe_before_them():
    found = contestants(["ngram", "model.order=3", "model.prune=[0,0,1]", "ngram"])
    assert [(each.source, each.changes) for each in found] == [
        ("ngram", ("model.order=3", "model.prune=[0,0,1]")), ("ngram", ())]
    assert [each.name for each in found] == ["ngram order=3 prune=[0,0,1]", "ngram"]
    assert [each.folder for each in found] == ["ngram-order-3-prune-0,0,1", "ngram"]


def test_a_grid_is_a_product():
    assert names("ngram", grid=["model.order=2,3", "model.compact=true,false"]) == [
        "ngram order=2 compact=true", "ngram order=2 compact=false", "ngram order=3 compact=true",
        "ngram order=3 compact=false"]
    assert names("ngram", grid=["model.prune=[0,0],[0,1]"]) == ["ngram prune=[0,0]", "ngram prune=[0,1]"]


@pytest.mark.parametrize(("values", "found"), [
    ("64,128", ["64", "128"]), ("[0,0],[0,1]", ["[0,0]", "[0,1]"]), ("{name: a, b: 1},c", ["{name: a, b: 1}", "c"]),
    ("{name: a, b: [1,2], c: {d: 1, e: 2}},f", ["{name: a, b: [1,2], c: {d: 1, e: 2}}", "f"]),
    ("'a,b',c", ["'a,b'", "c"]),
    ("(sf)*2,s*2f*2", ["(sf)*2", "s*2f*2"])])
def test_commas_inside_brackets_and_quotes_do_not_separate(values, found):
    assert choices(f"model.x={values}") == [f"model.x={each}" for each in found]


def test_files_of_the_same_name_are_numbered(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.yaml").write_text("family: ngram\ntokenizer: bytes\n")
    found = contestants([str(tmp_path / "a" / "mine.yaml"), str(tmp_path / "b" / "mine.yaml")])
    assert [(each.name, each.folder) for each in found] == [("mine", "mine"), ("mine (2)", "mine.2")]


def test_a_run_folder_is_compared_by_its_recipe(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "recipe.yaml").write_text("family: ngram\ntokenizer: bytes\nmodel: {order: 2}\n")
    found = contestants([str(tmp_path / "mine"), "model.compact=true"])[0].resolved([])
    assert found.name == "mine compact=true" and found.recipe.model.order == 2


def refused(*words, grid=()):
    """What is said instead of a training."""
    with pytest.raises(UsageError) as error:
        check_recipes([each.resolved([]) for each in contestants(words, grid)])
    return str(error.value)


def test_a_broken_file_is_refused_by_its_name(tmp_path):
    (tmp_path / "bad.yaml").write_text("family: ngram\ntokenizer: bytes\nmodel:\n  ordr: 3\n")
    said = refused("ngram", str(tmp_path / "bad.yaml"))
    assert said.startswith("bad: ") and "bad.yaml, line 4: no option model.ordr. Did you mean 'order'?" in said


def test_a_part_that_there_is_not_is_refused_by_the_name_of_its_recipe(tmp_path, neural):
    (tmp_path / "mine.yaml").write_text(neural.read_text().replace("r: lstm", "r: lstn"))
    said = refused("ngram", str(tmp_path / "mine.yaml"), str(neural))
    assert said.startswith("mine: ") and "no mixer named 'lstn'. Did you mean 'lstm'?" in said and "\n" not in said


@pytest.mark.parametrize("family", ["neural", "engine"])
def test_a_model_that_cannot_be_built_is_refused_whatever_the_text(tmp_path, family):
    model = "{pattern: sf, width: 32, context: 8, s: {name: attention, heads: 3}}"
    (tmp_path / "three.yaml").write_text(f"family: {family}\ntokenizer: bytes\nmodel: {model}\n"
                                         "training: {budget: {steps: 5}, batch: 4}\n")
    said = refused("ngram", str(tmp_path / "three.yaml"))
    assert said.startswith("three: ") and "= 3, expected a divisor of" in said and "32" in said, said


def test_every_problem_is_named_at_once():
    said = refused("ngram", "model.order=2", grid=["model.width=2,3"])
    assert [line.partition(": ")[0] for line in said.split("\n")] == ["ngram order=2 width=2", "ngram order=2 width=3"]
    assert said.count("no option model.width.") == 2


def test_a_variant_of_a_grid_that_does_not_fit_is_refused():
    said = refused("ngram", "model.smoothing.discount=0.5", grid=["model.smoothing=witten_bell,kneser_ney"])
    assert "witten_bell" in said and "\n" not in said


def test_models_of_different_tasks_are_refused():
    entries = [each.resolved([]) for each in contestants(["ngram", "bert-small"])]
    with pytest.raises(UsageError, match=r"ngram \(language model\) and bert-small \(masked language model\) are of "
                       "different tasks, expected one task for all"):
        one_task(entries)


@pytest.mark.parametrize(("words", "more", "message"), [
    (["ngram", "ngram-bytes", "model.ordr=3"], {}, "ngram-bytes ordr=3: no option model.ordr. Did you mean 'order'?"),
    (["ngram", "model.smoothing=knesr_ney"], {}, "no smoothing method named 'knesr_ney'. Did you mean 'kneser_ney'?"),
    (["ngram", "model.order=0"], {"grid": ["model.compact=true,false"]}, "ngram order=0 compact=true: model.order = 0"),
])
def test_a_change_that_does_not_fit_is_refused(words, more, message):
    assert message in refused(*words, **more)


def test_a_long_name_is_a_short_folder():
    changes = [f"model.prune=[{','.join(['0'] * n)}]" for n in (90, 91)]
    one, other = contestants(["ngram", changes[0], "ngram", changes[1]])
    assert one.folder != other.folder and max(len(one.folder), len(other.folder)) <= 80


@pytest.mark.parametrize(("words", "more", "message"), [
    (["model.order=3", "ngram"], {}, "expected the recipe before it"),
    ([], {}, "compare needs recipes, for example"),
    (["ngram", "ngram"], {}, "ngram is named twice, expected different recipes. --seeds 2 trains each twice"),
    (["mine.yaml"], {}, "mine.yaml: no such file, expected a recipe"),
    (["ngram", __file__], {}, "expected a recipe, whose file's name ends in .yaml. A text has --data before it"),
    (["ngrm"], {}, "no recipe named 'ngrm'. Did you mean 'ngram'?"),
    (["ngram", "lsmt"], {}, "no recipe named 'lsmt'. Did you mean 'lstm'?"),
    (["ngram", "tokenizer=bytes"], {}, "tokenizer=bytes: cannot be changed for one recipe alone, all share one"),
    (["lstm", "training.budget.steps=3"], {}, "cannot be changed for one recipe alone, --budget decides it"),
    (["ngram", "split.valid=0.5"], {}, "cannot be changed for one recipe alone, one split serves all"),
    (["ngram"], {"grid": ["model.order"]}, "--grid model.order: expected a path and its values"),
    (["ngram"], {"grid": ["model.order=2,,3"]}, "expected a path and its values, such as model.width=64,128,256"),
])
def test_losses_that_cannot_be_compared_are_refused(words, more, message):
    with pytest.raises(UsageError, match=message):
        contestants(words, **more)


def test_with_own_tokenizers_they_can_be_changed():
    assert names("ngram", "tokenizer=bytes", own_tokenizers=True) == ["ngram tokenizer=bytes"]
