"""FASTA: sequences become documents without line ends, are split anywhere, and read from both strands in training."""

import gzip
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule
from chainrule.errors import DataError, OptionError
from chainrule.text.corpora import open_corpus
from chainrule.text.corpora.corpus import documents
from chainrule.text.corpora.strands import BothStrands, has_bases, is_fasta, reverse_complement, with_both_strands
from chainrule.text.options import TextOptions
from chainrule.text.split import split

TWO = ">first one\nacgT\nNN a\n\n; a comment\nTTT\n>empty\n>second\r\nGATTACA\r\n"


def written(folder, text, name="genome.fna"):
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder / name


def texts(corpus, size=1 << 20):
    found, held = [], b""
    for chunk in corpus.chunks(size):
        held += chunk.data
        if chunk.ends_document:
            found, held = [*found, held], b""
    assert held == b""
    return found


def random_bases(count, seed=0):
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), count))


@pytest.mark.parametrize("name", ["a.fa", "a.fna", "a.fasta", "a.fna.gz", "a.FASTA"])
def test_each_sequence_is_a_document_in_upper_case(tmp_path, name):
    corpus = open_corpus(written(tmp_path, TWO, name))
    assert [each.text() for each in documents(corpus)] == ["ACGTNNATTT", "GATTACA"]
    assert is_fasta(corpus) and has_bases(corpus)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.sampled_from([">x", "ACG", "T", "ggccaattgg", "", ";c"]), max_size=12), size=st.integers(1, 9))
def test_documents_do_not_depend_on_the_size_of_chunks(tmp_path_factory, rows, size):
    path = written(tmp_path_factory.mktemp("fasta"), "\n".join([">first", *rows]) + "\n")
    wanted, held = [], ""
    for row in [*rows, ">"]:
        if row.startswith(">"):
            wanted, held = [*wanted, held] if held else wanted, ""
        elif not row.startswith(";"):
            held += row.upper()
    assert texts(open_corpus(path), size) == ([each.encode() for each in wanted] or [b""])


def test_a_file_that_only_has_the_name_is_plain_text(tmp_path):
    corpus = open_corpus(written(tmp_path, "سلام دنیا\n", "news.fa"))
    assert texts(corpus) == ["سلام دنیا\n".encode()] and not is_fasta(corpus)


def test_format_reads_any_file_so(tmp_path):
    path = written(tmp_path, TWO, "genome.txt")
    assert texts(open_corpus(path, TextOptions(format="fasta"))) == [b"ACGTNNATTT", b"GATTACA"]
    with pytest.raises(DataError, match=r"genome.txt: line 2: '1' in a sequence, expected letters. text.format=txt"):
        texts(open_corpus(written(tmp_path, ">a\nAC1GT\n", "genome.txt"), TextOptions(format="fasta")))


def test_another_name_is_noticed(tmp_path, caplog):
    open_corpus(written(tmp_path, TWO.replace("NN a", "NNA"), "genome.txt"))
    assert "looks like FASTA, and is read as plain text. Add text.format=fasta to read it so" in caplog.text


@pytest.mark.parametrize("length", [5_000, 400_000])
def test_a_split_sets_stretches_of_one_sequence_aside(tmp_path, length):
    bases = random_bases(length)
    corpus = open_corpus(written(tmp_path, f">one\n{bases}\n"))
    train, held = split(corpus, 0.25, seed=1)
    small, large = (b"".join(texts(each)) for each in (held, train))
    assert len(small) + len(large) == length and 0.1 < len(small) / length < 0.4
    for each in texts(held):
        assert each.decode() in bases
    assert texts(train, 777) == texts(train) and texts(held, 13) == texts(held)


@given(st.text("ACGTURYKMBVDHSWN", max_size=30).filter(lambda text: "U" not in text))
def test_the_other_strand_of_the_other_strand_is_the_first(text):
    assert reverse_complement(reverse_complement(text.encode())) == text.encode()


def test_training_reads_both_strands_and_nothing_that_is_held_out(tmp_path):
    bases = random_bases(20_000)
    corpus = open_corpus(written(tmp_path, f">one\n{bases}\n"))
    train, held = split(corpus, 0.2)
    both = with_both_strands(train)
    assert b"".join(texts(both)[::2]) == b"".join(texts(train))
    assert texts(both)[1::2] == [reverse_complement(each) for each in texts(train)]
    assert both.fingerprint() != train.fingerprint() and len(texts(both, 100)) == 2 * len(texts(train))
    every = b"\n".join(texts(both))
    for each in texts(held):
        assert each[:60] not in every and reverse_complement(each[:60]) not in every


def test_a_text_that_is_no_dna_has_no_other_strand(tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    protein = open_corpus(written(tmp_path, ">p\nMKVLAWFRLLPQEEDKWYHS\n", "p.faa"))
    for corpus in (open_corpus(tmp_path / "a.txt"), protein):
        with pytest.raises(OptionError, match="text.reverse_complement = True, expected false for a text that is not"):
            with_both_strands(corpus)
    assert not has_bases(BothStrands(protein))


def test_bits_per_base_count_every_base_and_no_line_end(tmp_path):
    """A model of single bases: −Σ log₂ p over bases and the mark at the end, by hand."""
    path = written(tmp_path, ">x\nAACC\nGGTT\nAAAA\n")
    options = ["tokenizer=characters", "model.order=1", "model.smoothing=maximum_likelihood"]
    chainrule.train("ngram", path, tmp_path / "run", overrides=options)
    found = chainrule.evaluate(tmp_path / "run", path, bootstrap=0)
    p = np.array([6, 2, 2, 2, 1]) / 13
    assert found["bytes"] == 12 and found["tokens"] == 13
    assert found["bits_per_base"] == found["bits_per_byte"]
    assert found["bits_per_base"] == pytest.approx(-(np.array([6, 2, 2, 2, 1]) * np.log2(p)).sum() / 12, rel=1e-5)
    plain = written(tmp_path, "AACCGGTTAAAA", "plain.txt")
    assert "bits_per_base" not in chainrule.evaluate(tmp_path / "run", plain, bootstrap=0)


def test_the_recipe_learns_that_bases_repeat(tmp_path):
    motif = random_bases(400, 3)
    path = written(tmp_path, f">x\n{motif * 10}{reverse_complement(motif.encode()).decode() * 10}\n")
    options = ["model.order=10"]
    chainrule.train("dna", path, tmp_path / "run", overrides=options)
    test = written(tmp_path, f">y\n{motif}\n", "test.fna")
    found = chainrule.evaluate(tmp_path / "run", test, bootstrap=20)
    assert found["bits_per_base"] < 0.5 and found["interval"]["bits_per_base"] == found["interval"]["bits_per_byte"]


def test_words_are_not_looked_for_in_dna(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "chainrule"):
        chainrule.train("ngram", written(tmp_path, TWO), tmp_path / "run", overrides=["model.order=1"])
    assert "has sequences without words, and the tokenizer 'words' takes each for one word. Try" in caplog.text
