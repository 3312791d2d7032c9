"""The table of a real small comparison as CSV, LaTeX and Markdown: the numbers of report.json, and names escaped."""

import csv
import io
import json

import pytest

from chainrule.cli.app import main
from chainrule.errors import StorageError, UsageError
from chainrule.experiments.standings import empty_row
from chainrule.experiments.tables import COLUMNS, as_csv, as_latex, as_markdown, check_tables, printed

WHERE = {"peak_memory_bytes": "peak_memory"}  # the key in `measured`, where it has another name
LOSSY = "family: ngram\ntokenizer: {name: words, min_count: 5}\nmodel: {order: 2}\n"


@pytest.fixture(scope="module")
def compared(corpus, tmp_path_factory):
    """A recipe whose name needs escapes, one whose tokens lose text, and one that fails."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "50%_of_x&y.yaml").write_text("family: ngram\ntokenizer: bytes\nmodel: {order: 3}\n")
    (folder / "lossy.yaml").write_text(LOSSY)
    files = [folder / "report" / "table.csv", folder / "new" / "table.tex", folder / "table.md"]
    options = [part for name, path in zip(("--csv", "--latex", "--markdown"), files, strict=True)
               for part in (name, str(path))]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setenv("OMP_NUM_THREADS", "1")
        main(["compare", str(folder / "50%_of_x&y.yaml"), str(folder / "lossy.yaml"), "ngram",
              "model.smoothing=maximum_likelihood", "--tokenizer", "own", "--data", str(corpus), "--out",
              str(folder / "report"), *options])
    assert not end.value.code
    return json.loads((folder / "report" / "report.json").read_text()), [path.read_text() for path in files]


def test_csv_has_every_number_of_the_report(compared):
    report, (text, _, _) = compared
    lines = list(csv.DictReader(io.StringIO(text)))
    assert tuple(lines[0]) == COLUMNS and text == as_csv(report)
    assert [line["name"] for line in lines] == [row["name"] for row in report["rows"]]
    for line, row in zip(lines, report["rows"], strict=True):
        for key in ("parameters", "disk_bytes", "flops"):
            assert line[key] == ("" if row[key] is None else str(row[key]))
        for key in ("tokens_per_second", "peak_memory_bytes", "generation_tokens_per_second"):
            value = row["measured"][WHERE.get(key, key)]
            assert line[key] == ("" if value is None else str(value))
        if row["status"] == "ok" and row["comparable"]:
            assert float(line["bits_per_byte"]) == row["bits_per_byte"] and line["status"] == "ok"
            ends = [line["interval_low"], line["interval_high"]]
            assert ends == (list(map(str, row["interval"])) if row["interval"] else ["", ""])
        else:
            assert line["bits_per_byte"] == "" and line["status"] in ("failed", "not comparable")
    assert {line["status"] for line in lines} == {"ok", "failed", "not comparable"}


def test_latex_has_the_printed_cells_and_escaped_names(compared):
    report, (_, text, _) = compared
    lines = text.splitlines()
    assert lines[:3] == [r"% \usepackage{booktabs}", r"\begin{tabular}{lrrrrrrrrrr}", r"\toprule"]
    assert lines[4] == r"\midrule" and lines[-2:] == [r"\bottomrule", r"\end{tabular}"] and text == as_latex(report)
    body = [line.removesuffix(r" \\").replace(r"\&", "and").split(" & ") for line in (lines[3], *lines[5:-2])]
    assert {len(cells) for cells in body} == {11} and body[0][2] == r"95 \% low"
    row = next(row for row in report["rows"] if row["name"].startswith("50"))
    cells = next(cells for cells in body if cells[0].startswith("50"))
    assert cells[0] == r"50\%\_of\_xandy" and cells[1] == f"{row['bits_per_byte']:.3f}"
    assert cells[2:4] == [f"{end:.3f}" for end in row["interval"]] and tuple(cells[4:]) == printed(row)[3:]


def test_markdown_is_a_table_with_as_many_cells_in_each_line(compared):
    report, (_, _, text) = compared
    lines = text.splitlines()
    assert len(lines) == len(report["rows"]) + 2 and {line.count("|") for line in lines} == {12}
    assert lines[1] == "|---|" + "---:|" * 10 and text == as_markdown(report)


def test_signs_of_the_languages_are_escaped():
    row = empty_row("a|b\\c ~^<>{}$#\n*`", "model", "ngram") | {"bits_per_byte": 1.5, "spread": 0.25}
    report = {"rows": [row], "ranked_by": "bits_per_byte"}
    latex, markdown = (form(report).splitlines() for form in (as_latex, as_markdown))
    assert latex[5].startswith(r"a\textbar{}b\textbackslash{}c \textasciitilde{}\textasciicircum{}\textless{}"
                               r"\textgreater{}\{\}\$\# *` & 1.500 $\pm$0.250 & ")
    assert markdown[2].startswith(r"| a\|b\\c ~^\<>{}$# \*\` | 1.500 ±0.250 |")


def test_files_that_cannot_be_written_are_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="not a regular file, expected the name of a file to write"):
        check_tables({"csv": tmp_path})
    with pytest.raises(StorageError, match="file is a file, expected a folder"):
        check_tables({"latex": tmp_path / "file" / "table.tex"})
    with pytest.raises(UsageError, match="name the same file, expected one for each"):
        check_tables({"csv": tmp_path / "a", "latex": tmp_path / "a"})
    check_tables({"csv": tmp_path / "new" / "a.csv"})
    assert not (tmp_path / "new").exists()
