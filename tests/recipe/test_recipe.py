"""A recipe is checked whole: every mistake at once, each with its path, its line and a suggestion."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plugins import family

from chainrule.errors import OptionError, UsageError
from chainrule.recipe.error_paths import recipe_paths_in_errors
from chainrule.recipe.problems import Problems
from chainrule.recipe.recipe import described, load_recipe, make_recipe, shipped
from chainrule.recipe.schema import format_size, parse_size
from chainrule.recipe.strict_yaml import load_yaml

PLAIN = {"family": "unigrams", "tokenizer": "words"}


@pytest.fixture(autouse=True, scope="module")
def _unigrams(tmp_path_factory):
    with family(tmp_path_factory.mktemp("families")):
        yield


@pytest.fixture
def write(tmp_path):
    def to_file(text):
        (tmp_path / "r.yaml").write_text(text, encoding="utf-8")
        return tmp_path / "r.yaml"
    return to_file


def problems(*overrides, **changes):
    with pytest.raises(Problems) as caught:
        make_recipe({**PLAIN, **changes}, overrides)
    return str(caught.value).split("\n")


def test_a_recipe_is_resolved_to_every_option():
    recipe = make_recipe(PLAIN)
    assert recipe.tokenizer == {"name": "words", "min_count": 1, "size": None}
    assert recipe.model.fallback == {"name": "bytes"}
    assert (recipe.model.order, recipe.text.unit, recipe.split.valid, recipe.seed) == (3, "auto", 0.0, 0)


def test_a_recipe_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        make_recipe(PLAIN).seed = 3


@given(order=st.integers(1, 8), prune=st.lists(st.integers(0, 9), max_size=4), rate=st.floats(allow_nan=False),
       memory=st.integers(0, 2**45), description=st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"])),
       limit=st.none() | st.integers(),
       tokenizer=st.sampled_from(["words", {"name": "words", "min_count": 3}, "bytes"]))
@example(order=1, prune=[], rate=float("inf"), memory=0, description="", limit=None, tokenizer="words")
@settings(max_examples=60)
def test_yaml_round_trips(order, prune, rate, memory, description, limit, tokenizer):
    recipe = make_recipe({"family": "unigrams", "description": description, "tokenizer": tokenizer, "model": {
        "order": order, "prune": prune, "rate": rate, "memory": memory, "limit": limit}})
    again = make_recipe(load_yaml(recipe.to_yaml()))
    assert again == recipe and again.to_yaml() == recipe.to_yaml()


def test_overrides_change_one_place_each():
    recipe = make_recipe(PLAIN, ["model.prune=[0,0,1]", "model.rate=1e-5", "text.blank_lines=keep", "seed=7",
                                 "model.memory=1.5G", "description='a: b'", "tokenizer.min_count=2"])
    assert recipe.model.prune == (0, 0, 1) and recipe.model.rate == 1e-5 and recipe.model.memory == 3 * 2**29
    assert recipe.text.blank_lines == "keep" and recipe.seed == 7 and recipe.description == "a: b"
    assert recipe.tokenizer == {"name": "words", "min_count": 2, "size": None}


@pytest.mark.parametrize("override", ["tokenizer=bytes", "tokenizer.name=bytes", "tokenizer={name: bytes}"])
def test_another_tokenizer_loses_the_options_of_the_old(override):
    recipe = make_recipe({"family": "unigrams", "tokenizer": {"name": "words", "min_count": 5}}, [override])
    assert recipe.tokenizer == {"name": "bytes"}


@pytest.mark.parametrize("override", ["tokenizer=words", "tokenizer.name=words"])
def test_the_same_tokenizer_keeps_its_options(override):
    recipe = make_recipe({"family": "unigrams", "tokenizer": {"name": "words", "min_count": 5}}, [override])
    assert recipe.tokenizer["min_count"] == 5


def test_a_part_name_is_applied_before_its_options_in_any_order():
    recipe = make_recipe({**PLAIN, "tokenizer": "bytes"}, ["tokenizer.min_count=4", "tokenizer.name=words"])
    assert recipe.tokenizer["min_count"] == 4


def test_a_part_inside_the_model_is_chosen_in_the_same_way():
    recipe = make_recipe(PLAIN, ["model.fallback=words", "model.fallback.size=10"])
    assert recipe.model.fallback == {"name": "words", "min_count": 1, "size": 10}


def test_every_mistake_of_a_file_is_reported_at_once(write):
    path = write("family: unigrams\ntokenizer: {name: words, mincount: 2, size: x}\nmodel:\n  ordr: 4\n"
                 "  prune: [0, a]\n  limit: x\n  vocabulary: opn\n  memory: 5X\nsplt: 3\nsplit: {valid: 1.0}\n")
    with pytest.raises(Problems) as caught:
        load_recipe(path, ["model.order=nine", "model.order.x=1", "a.b=1"])
    assert sorted(str(caught.value).split("\n")) == sorted([
        "r.yaml, line 2: no option tokenizer.mincount. Did you mean 'min_count'?",
        "r.yaml, line 2: tokenizer.size = 'x', expected a whole number or None.",
        "r.yaml, line 4: no option model.ordr. Did you mean 'order'?",
        "r.yaml, line 5: model.prune[1] = 'a', expected a whole number.",
        "r.yaml, line 6: model.limit = 'x', expected a whole number.",
        "r.yaml, line 7: model.vocabulary = 'opn', expected 'open' or 'closed'. Did you mean 'open'?",
        "r.yaml, line 8: model.memory = '5X', expected a size such as 500M or 1.5G.",
        "r.yaml, line 9: no option splt. Did you mean 'split'?",
        "r.yaml, line 10: split.valid = 1.0, expected less than 1.",
        "model.order = 'nine', expected a whole number.",
        "no option model.order.x: model.order has no options of its own.",
        "no option a.b. Known: description, family, model, seed, split, start_from, task, text, tokenizer.",
    ])


def test_a_run_folder_stands_for_its_recipe(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.yaml").write_text(make_recipe(PLAIN, ["model.order=2"]).to_yaml(), encoding="utf-8")
    assert load_recipe(tmp_path / "run") == load_recipe(tmp_path / "run" / "recipe.yaml")
    assert load_recipe(tmp_path / "run", ["model.order=4"]).model.order == 4


def test_a_folder_that_is_no_run_is_no_recipe(tmp_path):
    with pytest.raises(UsageError, match="a folder without recipe.yaml, expected a run folder, a YAML file or"):
        load_recipe(tmp_path)


def test_an_option_in_the_wrong_place_is_found():
    assert problems("order=3") == ["no option order. Did you mean 'model.order'?"]
    assert problems("model.blank_lines=keep") == ["no option model.blank_lines. Did you mean 'text.blank_lines'?"]


def test_an_option_of_a_part_is_found_where_the_recipe_names_the_part():
    for change, place in (("min_count=2", "tokenizer.min_count"), ("negative=9", "model.method.negative"),
                         ("training.ns_exponent=1", "model.method.ns_exponent")):
        with pytest.raises(Problems, match=f"^no option {change.partition('=')[0]}. Did you mean '{place}'"):
            load_recipe("skipgram", [change])


def test_an_unknown_family_does_not_hide_other_mistakes():
    assert problems("tokenizer=wrds", "seed=-1", family="unigram") == [
        "no family named 'unigram'. Did you mean 'unigrams'?", "no tokenizer named 'wrds'. Did you mean 'words'?",
        "seed = -1, expected at least 0."]


def test_another_family_starts_from_its_own_options(write):
    path = write("family: somebody_elses\ntokenizer: words\nmodel: {hidden: 64}\n")
    assert load_recipe(path, ["family=unigrams"]).model.order == 3


@pytest.mark.parametrize(("change", "words"), [
    ({"model": {"order": "5"}}, "model.order = '5', expected a whole number."),
    ({"model": {"order": True}}, "model.order = True, expected a whole number."),
    ({"model": {"order": 0}}, "model.order = 0, expected at least 1."),
    ({"model": 3}, "model = 3, expected a mapping."),
    ({"seed": 1.5}, "seed = 1.5, expected a whole number."),
    ({"family": None}, "family = None, expected text."),
    ({"family": 3}, "family = 3, expected text."),
    ({"tokenizer": 3}, "tokenizer = 3, expected the name of a tokenizer, or a mapping with a name."),
    ({"tokenizer": {"min_count": 2}}, "tokenizer.name is missing. Known: "),
    ({"tokenizer": {"name": 3}}, "no tokenizer named 3."),
    ({"text": {"unit": "lines"}}, "text.unit = 'lines', expected 'auto', 'line' or 'document'. Did you mean 'line'?"),
])
def test_a_wrong_value_is_reported_with_what_was_expected(change, words):
    assert [line for line in problems(**change) if line.startswith(words)], problems(**change)


def test_a_recipe_without_a_tokenizer_has_the_usual_one_of_its_family():
    assert make_recipe({"family": "unigrams"}) == make_recipe({"family": "unigrams", "tokenizer": "words"})
    assert make_recipe({"family": "unigrams"}, ["tokenizer.min_count=2"]).tokenizer["min_count"] == 2
    assert make_recipe({"family": "unigrams"}).tokenizer["min_count"] == 1  # the default itself is not changed
    usual = {"ngram": "words", "mixture": "words", "text_classifier": "words", "vectors": "plain_words",
             "neural": "byte_pair", "engine": "byte_pair"}
    assert {name: make_recipe({"family": name}).tokenizer["name"] for name in usual} == usual
    assert make_recipe({"family": "hidden_markov"}).tokenizer is None


def test_a_recipe_without_a_family_misses_its_tokenizer_too():
    with pytest.raises(Problems, match="family is missing.\ntokenizer is missing."):
        make_recipe({})


@pytest.mark.parametrize("override", ["oops", "=3", ".=3", "model..order=3", ""])
def test_an_override_must_have_a_path_and_a_value(override):
    assert problems(override) == [f"override {override!r}, expected path=value, such as model.order=3."]


def test_an_override_that_is_not_yaml_is_reported():
    assert "override 'model.order=[a', line 1" in problems("model.order=[a")[0]
    assert make_recipe(PLAIN, ["description=[a"]).description == "[a"  # where a text is wanted, any text will do


def test_files_that_are_no_recipes_are_refused_with_their_name(tmp_path, write):
    with pytest.raises(UsageError, match="r.yaml: expected a mapping"):
        load_recipe(write("- 1\n"))
    with pytest.raises(UsageError, match="r.yaml: expected a mapping"):
        load_recipe(write(""))
    (tmp_path / "latin.yaml").write_bytes("family: ngr\xe4m".encode("latin-1"))
    with pytest.raises(UsageError, match="latin.yaml: not UTF-8 text at byte 11"):
        load_recipe(tmp_path / "latin.yaml")
    with pytest.raises(UsageError, match="gone.yaml: No such file"):
        load_recipe(tmp_path / "gone.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(UsageError, match="folder.yaml: a folder without recipe.yaml"):
        load_recipe(tmp_path / "folder.yaml")


def test_a_name_that_is_no_recipe_gets_a_suggestion():
    with pytest.raises(UsageError, match="no recipe named 'no_such'.* A file's name ends in .yaml."):
        load_recipe("no_such")


def test_every_shipped_recipe_is_valid_and_described():
    listed = described()
    for name in shipped():
        assert load_recipe(name).description == listed[name]["description"] != ""


@pytest.mark.parametrize(("text", "size"), [("500M", 500 * 2**20), ("1.5G", 3 * 2**29), ("2 GB", 2**31),
                                            ("64KiB", 2**16), ("7", 7), (7, 7), ("1t", 2**40), ("0", 0)])
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", -1, "1.5", 1.5, True, None, "1.5X", "1e3", [1]])
def test_an_invalid_size_is_refused(text):
    with pytest.raises(ValueError, match="expected a size such as 500M"):
        parse_size(text)


@given(st.integers(0, 2**50))
def test_a_size_is_written_so_that_it_is_read_back(size):
    assert parse_size(format_size(size)) == size


def test_sizes_are_written_for_people():
    sizes = [3 * 2**29, 2**20, 500 * 2**20, 2**20 + 1, 0]
    assert [format_size(size) for size in sizes] == ["1.5G", "1M", "500M", 2**20 + 1, 0]


def test_a_misspelt_option_of_the_short_form_of_an_attention_part_names_its_place():
    how = ["model.pattern=(qf)*2", "model.parts.q.name=sliding_window", "model.parts.q.windw=3"]
    with pytest.raises(UsageError, match=r"^no option model\.parts\.q\.attend\.windw\. Did you mean 'window'\?$"):
        load_recipe("transformer", how)


def test_errors_of_parts_inside_parts_name_their_place_in_the_recipe():
    recipe = load_recipe("transformer", ["model.pattern=(qf)*2", "model.parts.q={name: sliding_window, window: 0}"])
    with pytest.raises(OptionError, match=r"^model\.parts\.q\.attend\.window = 0, expected at least 1\."), \
            recipe_paths_in_errors(recipe):
        raise OptionError("SlidingWindow.window", 0, "at least 1")
