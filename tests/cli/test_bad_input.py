"""Whatever text, option, folder or run a user names: a model, or one clear line and nothing half-written."""

import ctypes
import gzip
import json
import lzma
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import in_this_process, refused

from chainrule.cli.app import main
from chainrule.runs import load

pytestmark = pytest.mark.filterwarnings("error")  # a process would print them beside the one line
ROOT = Path(__file__).parents[2]
LINES = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog\nthe mat sat\n"
MANY = "".join(f"line {i * i} of it\n" for i in range(20_000)).encode()


def packed_zst(data):
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd.compress(data)


def cut(data):
    return data[: len(data) // 2]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in, with a cache and temporary files of its own; at the end nothing is left half-written."""
    for name in ("work", "cache", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "work" / "text.txt").write_text(LINES * 10)
    yield tmp_path / "work"
    assert leftovers(tmp_path) == []


def leftovers(folder):
    """Hidden or partial files and folders, and whatever lies among the temporary files."""
    return [str(path) for path in folder.rglob("*")
            if path.name.startswith(".") or ".partial" in path.name or "temporary" in path.parent.parts[-1:]]


@pytest.fixture
def chainrule(place, capfd):
    """The command line in this process."""
    return in_this_process(capfd)


def in_a_process(*args, before=(), **options):
    """The command line in a process of its own; `before` is a command that runs it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    done = subprocess.run([*before, sys.executable, "-m", "chainrule", *map(str, args)], text=True, timeout=600,
                          env=env, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
    return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)


def accepted(done, run):
    """A run that `chainrule verify` accepts; sentences on standard error are allowed, warnings and tracebacks not."""
    assert done.code == 0, done.err
    assert all(line.startswith("chainrule: ") for line in done.err.splitlines()), done.err
    assert in_a_process("verify", run).code == 0
    return load(run)


BAD_TEXTS = {
    "empty": (b"", "bad.txt: there is no text in it."),
    "blank": (b" \n\t\n\n  \r\n", "bad.txt: there is no text in it, only white space."),
    "only a byte-order mark": (b"\xef\xbb\xbf", "bad.txt: there is no text in it."),
    "only NUL": (b"\0", "bad.txt: there is no text in it, only white space."),
    "binary": (bytes(range(256)) * 40, "bad.txt: the file looks binary (10% control bytes), expected UTF-8 text."),
    "UTF-16": (LINES.encode("utf-16"), "bad.txt: the file is UTF-16LE, expected UTF-8. Convert it with: iconv"),
    "UTF-16, other end": ("\ufeff".encode("utf-16-be") + LINES.encode("utf-16-be"), "bad.txt: the file is UTF-16BE"),
    "UTF-32": (LINES.encode("utf-32"), "bad.txt: the file is UTF-32LE, expected UTF-8."),
    "UTF-16 without mark": (LINES.encode("utf-16-le"), "bad.txt: the file looks binary"),
    "Latin-1": ("one\nle café est fermé\n".encode("latin-1"),
                "bad.txt: line 2, byte 10: 0xe9 is not UTF-8. Probably ISO-8859-1: convert with iconv -f ISO-8859-1"),
    "marks": (b"a b\n<s> a b </s>\n", "bad.txt: line 2: the text has the word <s>"),
}


@pytest.mark.parametrize("what", BAD_TEXTS)
def test_a_text_that_cannot_be_trained_on_is_refused_in_one_line(place, chainrule, what):
    data, words = BAD_TEXTS[what]
    (place / "bad.txt").write_bytes(data)
    refused(chainrule("train", "ngram", "--data", "bad.txt", "--out", "run"), 1, words)
    refused(in_a_process("train", "ngram", "--data", "bad.txt", "--out", "run", "--json"), 1, words)
    assert sorted(os.listdir()) == ["bad.txt", "text.txt"]


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("zst", packed_zst)])
def test_a_cut_packed_text_is_refused_by_its_name(place, chainrule, suffix, pack):
    (place / f"a.txt.{suffix}").write_bytes(cut(pack(MANY)))
    words = f"a.txt.{suffix}: the .{suffix} file was cut: it ends too early. Copy or download it again."
    for tokenizer in ("words", "byte_pair"):
        refused(chainrule("train", "ngram", "--data", f"a.txt.{suffix}", "--out", "run", f"tokenizer={tokenizer}"), 1,
                words)
    assert not Path("run").exists()


def test_a_missing_text_is_refused_with_a_suggestion(place, chainrule):
    for out in ("run", "new/deep/run"):
        refused(chainrule("train", "ngram", "--data", "texd.txt", "--out", out), 1,
                "texd.txt: no such file or folder", "Did you mean 'text.txt'?")
    assert os.listdir() == ["text.txt"]


def test_the_same_texts_are_models_when_the_option_that_the_line_names_is_set(place, chainrule):
    (place / "latin.txt").write_bytes("le café est fermé\n".encode("latin-1") * 3)
    run = accepted(chainrule("train", "ngram", "--data", "latin.txt", "--out", "a", "text.errors=replace"), "a")
    assert run.tokenizer.decode(run.tokenizer.encode("caf\ufffd")) == "caf\ufffd"
    (place / "marks.txt").write_bytes(b"a b\n<s> a b </s>\n")
    run = accepted(chainrule("train", "ngram", "--data", "marks.txt", "--out", "b", "text.marks=drop"), "b")
    assert run.tokenizer.vocabulary_size == 5


ODD_TEXTS = {
    "one word once": (b"word\n", 4),
    "no line end": (b"word", 4),
    "one word in 1,000 lines": (b"word\n" * 1000, 4),
    "one word 1,000 times in a line": (b"word " * 1000, 4),
    "shorter than the order": (b"a b\n", 5),
    "NUL": (b"a\0b c\nd\0\0e\n", 8),
    "CRLF": (LINES.replace("\n", "\r\n").encode(), 11),
    "U+2028 and U+2029 are part of words": ("a\u2028b c\nd e\u2029 f\n".encode(), 8),
    "byte-order mark": (b"\xef\xbb\xbf" + LINES.encode(), 11),
    "a line of 5 MB": (b"the cat sat on the mat " * 217_000, 8),
    "a word of 5 MB": (b"x" * 5_000_000, 4),
    "its own <unk>": (b"a <unk> b\n<unk>\n", 6),
}


@pytest.mark.parametrize("what", ODD_TEXTS)
def test_an_odd_text_becomes_a_model(place, chainrule, what):
    data, vocabulary = ODD_TEXTS[what]
    (place / "odd.txt").write_bytes(data)
    run = accepted(chainrule("train", "ngram", "--data", "odd.txt", "--out", "run"), "run")
    assert run.tokenizer.vocabulary_size == vocabulary
    found = json.loads(chainrule("evaluate", "run", "--data", "odd.txt", "--json").out)
    assert (found["bytes"], found["unknown"]) == (len(data.removeprefix(b"\xef\xbb\xbf")), 0)
    assert found["perplexity"] < vocabulary


@pytest.mark.parametrize("tokenizer", ["characters", "bytes", "byte_pair", "unigram"])
@pytest.mark.parametrize("what", ["one word once", "NUL", "CRLF", "U+2028 and U+2029 are part of words"])
def test_an_odd_text_becomes_a_model_of_any_tokens(place, chainrule, what, tokenizer):
    data = ODD_TEXTS[what][0]
    (place / "odd.txt").write_bytes(data)
    run = accepted(chainrule("train", "ngram", "--data", "odd.txt", "--out", "run", f"tokenizer={tokenizer}"), "run")
    text = data.decode()
    assert run.tokenizer.decode(run.tokenizer.encode(text)) == text


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", ["words", "bytes"])
def test_a_line_of_100_MB_becomes_a_model(place, chainrule, tokenizer):
    (place / "long.txt").write_bytes(b"the cat sat on the mat " * 4_347_827)
    arguments = ["--data", "long.txt", "--out", "run", "model.order=3", f"tokenizer={tokenizer}"]
    assert accepted(chainrule("train", "ngram", *arguments), "run").report["units"] == 1


def test_names_may_have_spaces_and_any_letters(place, chainrule):
    (place / "fo lder").mkdir()
    (place / "fo lder" / "tëxt 漢字.txt").write_text(LINES)
    accepted(in_a_process("train", "ngram", "--data", "fo lder/tëxt 漢字.txt", "--out", "my rün ☕"), "my rün ☕")
    assert "cat" in chainrule("generate", "my rün ☕", "--prompt", "the cat").out


@pytest.mark.parametrize(("options", "words"), [
    (["model.order=0"], ["model.order = 0, expected", "1"]),
    (["model.order=25"], ["model.order = 25, expected", "24"]),
    (["model.order=three"], ["model.order = 'three', expected", "a whole number"]),
    (["model.order=2.5"], ["model.order = 2.5, expected", "a whole number"]),
    (["model.oder=3"], ["no option model.oder. Did you mean 'order'?"]),
    (["order=3"], ["no option order. Did you mean 'model.order'?"]),
    (["model.vocabulary=opn"], ["model.vocabulary = 'opn', expected 'auto', 'open' or 'closed'. Did you mean 'open'?"]),
    (["model.compact=yes"], ["model.compact = 'yes', expected", "true or false"]),
    (["model.memory=lots"], ["model.memory = 'lots', expected a size such as 500M or 1.5G."]),
    (["model.memory=1M"], ["model.memory = '1M', expected at least 300M"]),
    (["model.smoothing=knesr_ney"], ["no smoothing method named 'knesr_ney'. Did you mean 'kneser_ney'?"]),
    (["model.smoothing.discount=3"], ["no option model.smoothing.discount."]),
    (["model.prune=[1]"], ["model.prune = [1], expected limits that begin with 0 and never fall, such as [0, 0, 1]"]),
    (["model.prune=[0,2,1]"], ["model.prune = [0, 2, 1], expected limits that begin with 0 and never fall"]),
    (["model.prune=1"], ["model.prune = 1, expected a list."]),
    (["tokenizer=word"], ["no tokenizer named 'word'. Did you mean 'words'?"]),
    (["tokenizer.mincount=2"], ["no option tokenizer.mincount. Did you mean 'min_count'?"]),
    (["tokenizer.size=0"], ["size = 0, expected more than 3."]),
    (["split.valid=1"], ["split.valid = 1, expected less than 1."]),
    (["split.valid=0.5", "--valid", "text.txt"], ["--valid", "split.valid must be 0"]),
    (["model.order=["], ["model.order=[", "not YAML"]),
    (["foo"], ["override 'foo', expected path=value, such as model.order=3."]),
    (["--frce"], ["No such option: --frce", "--force"]),
])
def test_a_wrong_option_is_named_with_what_was_expected(place, chainrule, options, words):
    refused(chainrule("train", "ngram", "--data", "text.txt", "--out", "run", *options), 2, *words)
    assert os.listdir() == ["text.txt"]


def test_an_unknown_recipe_is_refused_with_a_suggestion(place):
    refused(in_a_process("train", "ngrm", "--data", "text.txt", "--out", "run"), 2,
            "no recipe named 'ngrm'. Did you mean 'ngram'?")
    refused(in_a_process("train", "none.yaml", "--data", "text.txt", "--out", "run", "--json"), 2, "none.yaml: No such")


def test_a_text_of_one_line_cannot_be_split(place, chainrule):
    (place / "one.txt").write_text("the cat sat\n")
    refused(chainrule("train", "ngram", "--data", "one.txt", "--out", "run", "split.valid=0.5"), 1,
            "one.txt: split.valid = 0.5 of 1 lines sets 0 aside", "name validation text with --valid")


def test_existing_files_are_left_alone(place, chainrule):
    train = ["train", "ngram", "--data", "text.txt", "--out"]
    refused(chainrule(*train, "text.txt"), 1, "text.txt: a file is there, expected the name of a new folder.")
    refused(chainrule(*train, "text.txt/run"), 1, "text.txt is a file, expected a folder.")
    refused(chainrule(*train, "x" * 300), 1, "File name too long, expected at most", "Choose a shorter one.")
    (place / "mine").mkdir()
    (place / "mine" / "letter.txt").write_text("dear")
    for force in ([], ["--force"]):
        refused(chainrule(*train, "mine", *force), 1, "mine: exists and is not a run folder, so it is left alone")
    assert chainrule(*train, "run", "model.order=2").code == 0
    before = (place / "run" / "MANIFEST.json").read_bytes()
    refused(chainrule(*train, "run", "model.order=3"), 1, "run: there is a run already.", "replace it with --force")
    assert (place / "run" / "MANIFEST.json").read_bytes() == before
    assert accepted(chainrule(*train, "run", "model.order=3", "--force"), "run").recipe.model.order == 3
    assert (place / "text.txt").read_text() == LINES * 10 and (place / "mine" / "letter.txt").read_text() == "dear"


def test_several_mistakes_are_a_line_each_and_json_says_nothing_on_standard_output(place, chainrule):
    done = chainrule("train", "ngram", "--data", "text.txt", "--out", "run", "model.oder=3", "model.order=0", "--json")
    assert (done.code, done.out) == (2, "")
    assert [line.startswith("chainrule: ") for line in done.err.splitlines()] == [True, True]


def without_privileges():
    """Root may read and write everything; from the next `exec` on, no more."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_folder_that_may_not_be_written_is_refused_before_any_work(place):
    (place / "shut").mkdir()
    (place / "shut").chmod(0o555)
    if subprocess.run(["touch", "shut/x"], capture_output=True, preexec_fn=without_privileges).returncode == 0:
        pytest.skip("on this system the user who runs the tests may write everywhere")
    for out in ("shut/run", "shut/new/run"):
        refused(in_a_process("train", "ngram", "--data", "text.txt", "--out", out, preexec_fn=without_privileges), 1,
                f"{out}: {place}/shut cannot be written to. Choose another folder.")
    assert os.listdir("shut") == [] == os.listdir(place.parent / "cache")


def test_a_text_that_may_not_be_read_is_refused(place):
    (place / "text.txt").chmod(0)
    if subprocess.run(["cat", "text.txt"], capture_output=True, preexec_fn=without_privileges).returncode == 0:
        pytest.skip("on this system the user who runs the tests may read everything")
    refused(in_a_process("train", "ngram", "--data", "text.txt", "--out", "run", preexec_fn=without_privileges), 1,
            "text.txt: cannot be read (Permission denied)")


def own_disk(size, folder):
    """A command in front of ours that gives it a small disk of its own on a folder."""
    command = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]
    try:
        tried = subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode
    except FileNotFoundError:
        tried = 1
    if tried:
        pytest.skip("this system lets nobody mount a small disk; the file-size limit is tested instead")
    script = f'mount -t tmpfs -o size={size} none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code'
    return [*command, "sh", "-c", script, str(folder)]


@pytest.fixture
def large(place):
    """A run and its ARPA file, both too large for the small disks."""
    chance = random.Random(0)
    words = [f"w{i}" for i in range(500)]
    (place / "large.txt").write_text("".join(" ".join(chance.choices(words, k=10)) + "\n" for _ in range(5000)))
    for args in (["train", "ngram", "--data", "large.txt", "--out", "run", "model.order=3"],
                 ["export", "run", "--to", "arpa", "x.arpa"]):
        with pytest.raises(SystemExit) as done:
            main(args)
        assert not done.value.code
    (place / "disk").mkdir()
    return place


@pytest.mark.parametrize("command", [
    ["export", "run", "--to", "arpa", "disk/x.arpa"],
    ["import", "x.arpa", "--out", "disk/run"],
    ["count", "large.txt", "--out", "disk/part", "model.order=3"],
])
def test_a_full_disk_is_one_line_and_the_disk_is_clean_again(large, command):
    done = in_a_process(*command, before=own_disk("64k", "disk"))
    done.err = "".join(line for line in done.err.splitlines(True) if "too little text" not in line)
    refused(done, 1, "o space left on ")


def test_a_disk_too_small_to_count_on_is_one_line_and_clean_again(place):
    words = random.Random(0).choices([f"w{i}" for i in range(500)], k=850_000)
    (place / "large.txt").write_text("\n".join(words))
    (place / "disk").mkdir()
    done = in_a_process("train", "ngram", "--data", "large.txt", "--out", "disk/run", "model.memory=300M",
                        "model.order=8", before=own_disk("64k", "disk"))
    sentence, _, done.err = done.err.partition("\n")
    assert "counting in pieces of 419,430 tokens on the disk" in sentence
    refused(done, 1, f"{place}/disk: no space left on the disk.")


def test_a_count_that_no_word_reaches_is_reported(place, chainrule):
    done = chainrule("train", "ngram", "--data", "text.txt", "--out", "run", "tokenizer.min_count=1000")
    assert accepted(done, "run").tokenizer.vocabulary_size == 3
    assert "no token occurs 1,000 times, as tokenizer.min_count asks: none has a token of its own." in done.err


def test_a_limit_on_the_size_of_files_is_one_line_and_the_older_run_stays(large):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, 2**18))
    before = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    done = in_a_process("train", "ngram", "--data", "large.txt", "--out", "run", "--force", "model.order=3",
                        preexec_fn=limit)
    done.err = "".join(line for line in done.err.splitlines(True) if "too little text" not in line)
    refused(done, 1, "run: no space left on the disk. Nothing was saved and nothing replaced")
    assert {path.name: path.read_bytes() for path in Path("run").iterdir()} == before


def test_a_cache_that_cannot_be_written_is_one_line(place):
    refused(in_a_process("train", "ngram", "--data", "text.txt", "--out", "run",
                         env={"XDG_CACHE_HOME": str(place / "text.txt")}), 1,
            "the cache cannot be written (Not a directory)", "XDG_CACHE_HOME")


def test_a_pipe_is_scored_but_not_trained_on(place):
    def piped(*command):
        read, write = os.pipe()
        os.write(write, LINES.encode())
        os.close(write)
        done = in_a_process(*(f"/dev/fd/{read}" if each == "PIPE" else each for each in command), pass_fds=[read])
        os.close(read)
        return done
    assert in_a_process("train", "ngram", "--data", "text.txt", "--out", "run").code == 0
    refused(piped("train", "ngram", "--data", "PIPE", "--out", "other"), 1, "a pipe or a device, expected a file")
    assert piped("score", "run", "PIPE").out == in_a_process("score", "run", "-", input=LINES).out != ""


def test_a_stream_that_is_closed_is_no_mistake(place):
    """Nothing that was meant for a closed stream ends up in another."""
    def closed(stream, *args):
        return in_a_process(*args, before=["sh", "-c", f'"$0" "$@" {stream}'])
    train = ["train", "ngram", "--data", "text.txt", "--out", "run"]
    assert closed(">&-", *train).code == 0
    done = closed("2>&-", *train, "--json", "--force")
    assert (done.code, json.loads(done.out)["run"]) == (0, "run")
    refused(closed("<&-", "score", "run", "-"), 1, "standard input", "it is empty")


def test_a_closed_pipe_stops_printing_but_not_saving(place):
    (place / "many.txt").write_bytes(MANY)
    read, write = os.pipe()
    os.close(read)
    done = in_a_process("train", "ngram", "--data", "many.txt", "--out", "run", stdout=write)
    assert all(line.startswith("chainrule: too little text") for line in done.err.splitlines())
    assert in_a_process("verify", "run").code == 0
    done = in_a_process("score", "run", "many.txt", stdout=write)
    os.close(write)
    assert (done.code, done.err) == (1, "")
