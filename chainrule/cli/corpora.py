"""`chainrule corpora`: the texts that need no download."""

from __future__ import annotations

from chainrule.cli.terminal.console import Json, emit, table


def corpora(json: Json = False) -> None:
    """List the built-in corpora: names that stand for a text wherever a path may stand.

    Examples:

        chainrule corpora
        chainrule data check pydoc
    """
    from chainrule.text.corpora import open_corpus
    from chainrule.text.corpora.builtin import BUILTINS

    found = {}
    for name, builtin in BUILTINS.items():
        corpus = open_corpus(name)
        found[name] = {"summary": builtin.summary, "files": len(corpus.files), "bytes": corpus.size}
    emit({"corpora": found}, json, lambda data: table(
        ["corpus", "files", "bytes", "what it is"],
        [(name, row["files"], row["bytes"], row["summary"]) for name, row in data["corpora"].items()]))
