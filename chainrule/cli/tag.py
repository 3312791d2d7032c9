"""`chainrule tag RUN TEXT|FILE`: a tag for each word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from chainrule.cli.terminal.console import Json, emit
from chainrule.errors import UsageError

COLUMNS = (".tsv", ".conll", ".iob", ".iob2", ".bio")  # endings of files with a word and its tag a line


def tag(
    run: Annotated[Path, typer.Argument(help="The run folder of a tagger.")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT|FILE]...", help="Texts, or one file with a "
                                                      "sentence a line; standard input if not given.")] = None,
    spaces: Annotated[bool, typer.Option("--spaces", help="Words stand between spaces; if not given, punctuation is "
                                         "split off too.")] = False,
    form: Annotated[Literal["auto", "text", "columns", "conllu"], typer.Option(
        "--format", help="Of a file: a sentence a line, a word a line (first column), or CoNLL-U; auto goes by its "
        "ending.")] = "auto",
    layout: Annotated[Literal["columns", "inline", "conllu"], typer.Option(
        "--as", help="word<TAB>tag a line, word/tag word/tag, or CoNLL-U.")] = "columns",
    json: Json = False,
) -> None:
    """Give every word its tag: a part of speech, or the entity that it belongs to.

    What is printed is a tagged file again, with an empty line after each sentence. Of a CoNLL-U file, --as conllu keeps
    all but the column of the tags.

    Examples:

        chainrule tag runs/pos "The cows eat hay"
        chainrule tag runs/pos "The cows eat hay" "Birds sing." --as inline
        chainrule tag runs/pos sentences.txt > tagged.tsv
        chainrule tag runs/pos treebank.conllu --as conllu > parsed.conllu
        echo "Ada Lovelace met Charles Babbage" | chainrule tag runs/names --json
    """
    from chainrule.protocols import Tagger
    from chainrule.runs import load, task_of
    from chainrule.verbs.tag import valid_tags

    if any(not text.strip() for text in texts or []):
        raise UsageError('"": an empty text, expected some words, or the name of a file.')
    loaded = load(run)
    model = loaded.offering(Tagger, "tag")
    write, rows = _writer(layout, model, task_of(loaded).column), []
    for some in _sentences(loaded, texts or [], spaces, form):
        found = valid_tags(model, [each.words for each in some])
        if json:
            rows += _described(model, some, found)
            continue
        for each, own in zip(some, found, strict=True):
            print(write(each, own), end="", flush=True)
    if json:
        emit({"run": str(run), "sentences": rows}, json, print)


def _writer(layout: str, model: Any, column: str) -> Any:
    from chainrule.evaluation.tagging import PLAIN, scheme_of
    from chainrule.inputs import tag_writing

    if layout != "conllu":
        return getattr(tag_writing, layout)
    if scheme_of(model.tags) != PLAIN:
        raise UsageError("--as conllu: tags of entities have no column in CoNLL-U, expected --as columns or inline.")
    return lambda each, own: tag_writing.conllu(each, own, column)


def _sentences(run: Any, given: list[str], spaces: bool, form: str) -> Iterator[list[Any]]:
    """Words of sentences, some at a time, so that a long input is answered as it goes."""
    from chainrule.cli.terminal.piped import as_file, is_text
    from chainrule.cli.terminal.sources import some_of, sources_of
    from chainrule.inputs.tag_writing import Untagged, treebank_sentences
    from chainrule.inputs.word_splitting import split_words

    one = given[0] if len(given) == 1 and not is_text(given[0]) else "-" if not given else None
    kind = _kind(one, form)
    if kind == "text" or one is None:
        if form not in ("auto", "text"):
            raise UsageError(f"--format {form} is of a file, and texts were given. Leave it out.")
        for some in sources_of(run, given):
            yield [Untagged(split_words(line, spaces=spaces), text=line) for line in some]
        return
    from chainrule.inputs.tagged import tagged
    from chainrule.text.corpora import open_corpus

    with as_file(one) as name:
        if kind == "conllu":
            yield from some_of(treebank_sentences(Path(name), run.recipe.text))
        else:
            corpus = open_corpus(name, run.recipe.text.model_copy(update={"format": "txt"}))
            yield from some_of(Untagged(list(each.words)) for each in tagged(corpus, "auto", need_tags=False))


def _kind(file: str | None, form: str) -> str:
    from chainrule.text.corpora.packing import unpacked_name

    if form != "auto" or file in (None, "-"):
        return "text" if form == "auto" else form
    ending = Path(unpacked_name(Path(str(file)))).suffix.lower()
    return "conllu" if ending == ".conllu" else "columns" if ending in COLUMNS else "text"


def _described(model: Any, some: list[Any], found: list[list[str]]) -> list[dict[str, Any]]:
    """With the probability of each tag, where the model weighs them, and entities where tags mark them."""
    from chainrule.evaluation.tagging import PLAIN, scheme_of
    from chainrule.inputs.tag_schemes import spans
    from chainrule.tagger_protocols import WeighsTags

    scheme, number = scheme_of(model.tags), {name: n for n, name in enumerate(model.tags)}
    weights = model.probabilities([each.words for each in some]) if isinstance(model, WeighsTags) else None
    rows = []
    for n, (each, own) in enumerate(zip(some, found, strict=True)):
        row: dict[str, Any] = {"words": each.words, "tags": own}
        if weights is not None:
            row["probabilities"] = [float(p[number[tag]]) if tag in number else 0.0
                                    for p, tag in zip(weights[n], own, strict=True)]
        if scheme != PLAIN:
            row["entities"] = [{"type": kind, "begin": begin, "end": end, "text": " ".join(each.words[begin:end])}
                               for kind, begin, end in spans(own, scheme)]
        rows.append(row)
    return rows
