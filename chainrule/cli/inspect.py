"""`chainrule inspect`: look inside a model."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from chainrule.cli.terminal.asked import Asked, parted, refuse
from chainrule.cli.terminal.console import Json
from chainrule.errors import UsageError


def inspect(
    what: Annotated[list[str], typer.Argument(metavar="RUN [TEXT|FILE|WORD ...] [text.…=VALUE ...]", help=(
        "A run folder; for a text classifier the text that is labeled, for one of images a file, for word vectors some "
        "words; and how text is read. For --gradients: run folders, or recipes as training would begin them, each with "
        "its changes; or the examples through-time and through-depth. For --graph: an example, or a run of the engine."
    ))],
    text: Annotated[str | None, typer.Option("--text", "--data", help="The text that is read: a file, glob, folder or "
                                             "built-in corpus; - is standard input.")] = None,
    text_is: Annotated[str | None, typer.Option("--text-is", metavar="TEXT", help="The text itself.")] = None,
    tokens: Annotated[int | None, typer.Option(min=1, help="How many tokens of the text are looked at; 256 if not "
                                               "given.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="How many of the likeliest tokens are kept at each place; 5 if "
                                            "not given.")] = None,
    out: Annotated[Path | None, typer.Option(help="A page: FILE.html, or figures: FILE.svg or FILE.png. Of a graph: "
                                            "FILE.svg, .png, .dot or .mmd (Mermaid).")] = None,
    figure: Annotated[str | None, typer.Option(help="Of a text: this figure alone in FILE.svg or FILE.png, such as "
                                               "surprisal, bits, backoff, attention, layers.")] = None,
    gradients: Annotated[bool, typer.Option("--gradients", help="Instead: gradient norms by layer and by distance in "
                                            "time, on pydoc if no text is given.")] = False,
    distance: Annotated[int | None, typer.Option(min=1, help="Of gradients: the longest distance, in tokens; 50 if not "
                                                 "given.")] = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Of gradients and ranks: windows of text over which is "
                                             "averaged; 16 and 8 if not given.")] = None,
    clip: Annotated[float | None, typer.Option(min=0, help="Of gradients: the largest norm that may pass; the recipe's "
                                               "own if not given.")] = None,
    graph: Annotated[bool, typer.Option("--graph", help="Instead: a computation graph with the value and the gradient "
                                        "at each node: product, neuron, any engine module, recipe or run.")] = False,
    map_: Annotated[bool, typer.Option("--map", help="Instead: of word vectors, a map with every word in its place, as "
                                       "a page to search and zoom; --out names it, map.html if not given.")] = False,
    rank: Annotated[bool, typer.Option("--rank", help="Instead: how fast the vectors of all positions become the same "
                                       "by depth, with and without skips and feed-forwards; of runs or recipes.")
                    ] = False,
    importance: Annotated[bool, typer.Option("--importance", help="Instead: how many bits a text costs more without "
                                             "each sublayer and each head of a language model or a masked one.")
                          ] = False,
    tasks: Annotated[bool, typer.Option("--tasks", help="Instead: how alike labeled data sets are (Task2Vec); they "
                                        "are named in the place of a run.")] = False,
    probe: Annotated[str | None, typer.Option(help="Instead: tagged words (FILE.conllu, or a word and its tag a "
                                              "line), which a linear probe guesses from each layer. With --tasks: a "
                                              "neural run that reads text.")] = None,
    words: Annotated[str | None, typer.Option(help="Of a map: so many most frequent words, 2000 if not given; or these "
                                              "with their nearest: king,queen.")] = None,
    labels: Annotated[Path | None, typer.Option(help="Of a map: colors by a file of word, tab, label.")] = None,
    clusters: Annotated[int | None, typer.Option(help="Of a map: colors by so many clusters, 8 if not given; 0 for "
                                                 "none.")] = None,
    method: Annotated[str | None, typer.Option(help="Of a map: pca or tsne; what is installed if not given.")] = None,
    json: Json = False,
) -> None:
    """Look inside a model: what it predicted along a text, and how.

    For any model, the surprisal of each token and what was likeliest in its place. For n-grams, which order answered
    and the back-off path. For neural models, attention maps and rollout, the similarity of layers and of positions, and
    the neighbors of embeddings. The terminal shows the most important of it, --out draws all in one page, --json
    has every number.

    With --gradients: of the loss at a token t, the norm of the gradient at what each layer carried d tokens earlier,
    and of each layer's own gradient before and after clipping. Several models are put into one picture. The examples
    through-time and through-depth are fresh models in which gradients vanish, explode, are clipped and stay alive.

    With --rank: the residual to rank one after each sublayer, for attention alone, with feed-forwards, with skips, and
    for the whole model, all with the same weights.

    With --importance: what removing each sublayer and each head costs, in bits per byte. With --probe TAGGED: what each
    layer knows of the tags of words, by a linear classifier on its vectors.

    With --graph: how the project's own engine computes and differentiates a small example, or a run of it on a text.

    With --map: where the vectors of frequent words lie, in two dimensions. With --tasks: how alike labeled data sets
    are, by the weights of one network that each of them would change.

    For a text classifier: the labels' probabilities, what each word and n-gram adds, and what changes without it; with
    --data LABELED which labels are confused, and the texts that it is most wrong about. For one of images: which pixels
    decided, and where attention looked. For recordings: what was heard when, beside the spectrogram. For music: the
    roll of a piece with the nats of each time step. For word vectors: the neighbors of words, and how alike they are.
    For a translator: what each token of the target looked at. For a tagger: the probabilities of tags at each word, and
    with --data TAGGED which tags are confused. For a captioner: where in the image it looked for each word.

    Examples:

        chainrule inspect runs/ptb5 --text-is "the company said it will"
        chainrule inspect runs/gpt --text held-out.txt --out page.html
        chainrule inspect rnn rnn model.r.gain=3 lstm --gradients --data pydoc --out gradients.svg
        chainrule inspect through-time --gradients --out time.svg
        chainrule inspect bert-small "model.pattern=(sf)*8" --rank --out rank.svg
        chainrule inspect runs/gpt --importance --data held-out.txt --out worth.svg
        chainrule inspect runs/gpt --probe test.conllu --out known.svg
        chainrule inspect neuron --graph --out neuron.svg
        chainrule inspect runs/vectors --map --words 5000 --out words.html
        chainrule inspect runs/vectors king queen man --out words.html
        chainrule inspect runs/topics "heavy rain tonight" --data test.csv --out why.html
        chainrule inspect runs/digits three.png --out why.svg
        chainrule inspect runs/gpt --text held-out.txt --figure attention --out attention.png
        chainrule inspect runs/calls call.wav --out call.svg
        chainrule inspect runs/music chorales.json:test#3 --out roll.svg
        chainrule inspect runs/m "A man rides a bicycle." --out alignment.svg
        chainrule inspect runs/pos "The cows eat hay" --data test.conllu --out tags.svg
        chainrule inspect runs/captions photo.jpg --out where.html
        chainrule inspect --tasks reviews.csv questions.csv news.csv --probe runs/lm --out tasks.svg
    """
    given: dict[str, object] = {
        "--text": text, "--text-is": text_is, "--tokens": tokens, "--top": top, "--figure": figure,
        "--distance": distance, "--rows": rows, "--clip": clip, "--gradients": gradients or None,
        "--graph": graph or None, "--rank": rank or None, "--importance": importance or None}
    if map_:
        from chainrule.cli.terminal.map_shown import show_map

        refuse(given, "does nothing with --map")
        show_map(what, words=words, method=method, labels=labels, clusters=clusters, out=out, json=json)
        return
    refuse({"--words": words, "--method": method, "--labels": labels, "--clusters": clusters},
            "does nothing without --map")
    if tasks:
        from chainrule.cli.terminal.tasks_shown import show_tasks

        refuse(given, "does nothing with --tasks")
        data, overrides = parted(what, ("text.", "task."))
        show_tasks(data, overrides, probe=probe, out=out, json=json)
    elif probe is not None:
        from chainrule.cli.terminal.importance_shown import show_probe

        _takes(given, "--probe", "--tokens")
        show_probe(what, probe, words=tokens or 5000, out=out, json=json)
    elif importance:
        from chainrule.cli.terminal.importance_shown import show_importance

        _takes(given, "--importance", "--text", "--tokens")
        show_importance(what, text or "pydoc", tokens=tokens or 4096, out=out, json=json)
    elif rank:
        from chainrule.cli.terminal.rank_shown import show_rank

        _takes(given, "--rank", "--text", "--tokens", "--rows")
        show_rank(what, text or "pydoc", tokens=tokens or 64, rows=rows or 8, out=out, json=json)
    elif graph:
        from chainrule.cli.terminal.graph_shown import show_graph

        _takes(given, "--graph", "--text")
        show_graph(what, text, out=out, json=json)
    elif gradients:
        from chainrule.cli.terminal.gradients_shown import show_gradients

        if text_is is not None:
            raise UsageError("--gradients reads windows of a longer text: give it with --text FILE, not --text-is.")
        _takes(given, "--gradients", "--text", "--distance", "--rows", "--clip")
        show_gradients(what, text or "pydoc", distance=distance or 50, rows=rows or 16, clip=clip, out=out, json=json)
    else:
        refuse({"--distance": distance, "--rows": rows, "--clip": clip}, "does nothing without --gradients")
        view, asked = _view(what[0]), Asked(what, text, text_is, tokens, top, figure, out, json)
        asked.check(view.TAKES, view.OF)
        view.look(asked)


def _takes(given: dict[str, object], mode: str, *takes: str) -> None:
    """Refuses the options that a way of looking does not take."""
    refuse({name: value for name, value in given.items() if name not in (mode, *takes)}, f"does nothing with {mode}")


def _view(run: str) -> Any:
    """The module that shows what there is to see in a run, named by its task; what is no run is told by the first."""
    from chainrule.runs import task_of
    from chainrule.storage import open_run
    from chainrule.task_protocols import Task

    name = task_of(open_run(run).path).view if Path(run).is_dir() else Task.view
    return import_module(f"chainrule.cli.terminal.{name}_shown")
