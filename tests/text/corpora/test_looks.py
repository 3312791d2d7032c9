"""Files under another name: a line says what they look like, and they are read as they are named."""

import gzip

import pytest
from texts import text_of

from chainrule.cli.app import main
from chainrule.inputs.labeled import Layout, examples
from chainrule.text.check import check
from chainrule.text.corpora import open_corpus
from chainrule.text.options import TextOptions

RECORDS = '{"id": 1, "text": "one fish"}\n\n{"id": 2, "text": "two\\u2028fish"}\n'
BODIES = '{"id": "a", "body": "one fish"}\n{"id": "b", "body": "two fish"}\n'
WORDS = "# sent_id = 1\n1\thay\thay" + "\t_" * 7 + "\n2-3\tdas" + "\t_" * 8 + "\n"
LOOKS = {
    "records": (RECORDS, "JSON lines, field text", "Add text.format=jsonl to read"),
    "one record": ('{"text": "hay"}', "JSON lines, field text", "Add text.format=jsonl to read"),
    "bodies": (BODIES, "JSON lines, field body", "Add text.format=jsonl text.field=body to read"),
    "numbers": ('{"id": 1}\n{"id": 2}\n', "JSON lines without a field of text", "Add text.format=jsonl to read"),
    "many records": (RECORDS * 5000, "JSON lines, field text", "Add text.format=jsonl to read"),
    "array": ('[\n  {"text": "hay"},\n  {"text": "straw"}\n]\n', "JSON", "Convert it to JSON lines, one object a line"),
    "object": ('{\n  "train": [["hay", "food"]]\n}\n', "JSON", "Convert it to JSON lines, one object a line"),
    "treebank": (WORDS, "CoNLL-U", "Add text.format=conllu to read"),
    "table": ('id,text\n1,"hay, straw"\n2,hay\n', "comma-separated values, field text", "Add text.format=csv to read"),
    "tabs": ("id\ttext\n1\thay\n", "tab-separated values, field text", "Add text.format=tsv to read"),
}
PLAIN = ["", "\n\n", "hay", "the text, as it is\nhas commas, too\n", "{hay}\n{straw}\n", "[hay] and straw\n",
         '"hay": straw', "1\thay\n2\tstraw\n", "{}\nhay", "text\nhay\n", "{" * 100_000, "[" * 100_000]


@pytest.mark.parametrize("ending", [".txt", "", ".txt.gz", ".log"])
@pytest.mark.parametrize("name", LOOKS)
def test_what_a_file_looks_like_is_said_once_and_it_is_read_as_plain_text(tmp_path, caplog, name, ending):
    text, what, advice = LOOKS[name]
    path = tmp_path / f"file{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    assert text_of(open_corpus(path)) == text.encode()
    [said] = caplog.messages
    assert said.startswith(f"{path}: looks like {what}, and is read as plain text. {advice}")


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_read_without_a_word(tmp_path, caplog, text):
    (tmp_path / "a.txt").write_text(text)
    assert text_of(open_corpus(tmp_path / "a.txt")) == text.encode() and caplog.messages == []


@pytest.mark.parametrize(("form", "text", "found"), [
    ("jsonl", RECORDS, "one fishtwo\u2028fish"), ("csv", LOOKS["table"][0], "hay, strawhay"),
    ("tsv", LOOKS["tabs"][0], "hay"), ("conllu", WORDS, "hay das\n"), ("txt", RECORDS, RECORDS)])
def test_a_format_that_is_named_decides_and_no_line_is_said(tmp_path, caplog, form, text, found):
    (tmp_path / "data").write_text(text)
    assert text_of(open_corpus(tmp_path / "data", TextOptions(format=form))).decode() == found
    assert caplog.messages == []


def test_the_format_is_part_of_the_fingerprint_and_auto_changes_none(tmp_path):
    (tmp_path / "a.jsonl").write_text(RECORDS)
    (tmp_path / "a.txt").write_text(RECORDS)
    prints = [open_corpus(tmp_path / name, TextOptions(format=form)).fingerprint() for name, form in [
        ("a.txt", "auto"), ("a.txt", "txt"), ("a.txt", "jsonl"), ("a.jsonl", "auto")]]
    assert prints[0] == prints[1] != prints[2]
    assert "format" not in TextOptions().digest()


def test_several_files_of_a_kind_are_one_line(tmp_path, caplog):
    for name in "abcde":
        (tmp_path / f"{name}.txt").write_text(RECORDS)
    open_corpus(tmp_path)
    [said] = caplog.messages
    assert "c.txt and 2 more: look like JSON lines, field text, and are read as plain text." in said


def test_labels_are_read_in_the_format_that_is_named(tmp_path):
    (tmp_path / "data").write_text('{"label": "x", "text": "hay"}\n')
    found = list(examples(open_corpus(tmp_path / "data", TextOptions(format="jsonl")).sources, Layout()))
    assert [(each.labels, each.text) for each in found] == [(("x",), b"hay")]


def test_data_check_advises_to_look_again_rather_than_to_train_on_json(tmp_path):
    (tmp_path / "notes").write_text(BODIES)
    found = check(tmp_path / "notes")
    assert found["looks_like"] == [{"what": "JSON lines, field body", "files": [str(tmp_path / "notes")]}]
    command = f"chainrule data check {tmp_path / 'notes'} --format jsonl --field body"
    assert [row["command"] for row in found["suggestions"]] == [command]
    again = check(tmp_path / "notes", TextOptions(format="jsonl", field="body"))
    assert again["looks_like"] == [] and again["words"] == 4
    assert "text.format=jsonl" in again["suggestions"][0]["command"]


def said_by(capfd, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code or 0, *capfd.readouterr()


def test_training_on_json_lines_under_another_name_says_so_and_a_run_keeps_no_format(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(RECORDS)
    (tmp_path / "plain.txt").write_text("one fish\n")
    how = ["model.order=1", "model.smoothing=witten_bell", "--json"]
    code, _, said = said_by(capfd, "train", "ngram", "--data", "notes.txt", "--out", "a", *how)
    assert code == 0 and said.count("\n") == 1 and "notes.txt: looks like JSON lines, field text" in said
    code, _, said = said_by(capfd, "train", "ngram", "--data", "notes.txt", "--out", "b", "text.format=jsonl", *how)
    assert (code, said) == (0, "")
    assert said_by(capfd, "evaluate", "b", "--data", "plain.txt", "--json")[::2] == (0, "")
    assert "looks like JSON lines" in said_by(capfd, "evaluate", "b", "--data", "notes.txt", "--json")[2]
    code, _, said = said_by(capfd, "evaluate", "b", "--data", "notes.txt", "text.format=xml")
    assert code == 2 and "text.format = 'xml', expected 'auto', 'txt', 'jsonl'" in said
