"""Which texts are written without spaces, and what is said about a tokenizer that splits at spaces."""

import subprocess
import unicodedata

import numpy as np
import pytest
import warm_python
from texts import corpus_of

from chainrule.text.check import check
from chainrule.text.scripts import BLOCKS, CLASSES, EDGES, NAMES, Scripts, unspaced_script

CHINESE = "道可道,非常道。名可名,非常名。无名天地之始;有名万物之母。\n" * 20  # Laozi, chapter 1
JAPANESE = "祇園精舎の鐘の声、諸行無常の響きあり。沙羅双樹の花の色、盛者必衰の理をあらわす。\n" * 20
THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ\n" * 20
ENGLISH = "All human beings are born free and equal in dignity and rights.\n" * 20


@pytest.mark.parametrize(("text", "script"), [
    (CHINESE, "Chinese characters"), (THAI, "Thai"), (ENGLISH, None), ("天地玄黄\n", "Chinese characters"),
    (" ".join(CHINESE), None), (JAPANESE, "Chinese characters"), ("ひらがなだけでかく。\n", "kana"),
    (CHINESE * 3 + ENGLISH, "Chinese characters"), (ENGLISH * 30 + CHINESE, None),
    ("한국어에는 띄어쓰기가 있다\n", None)])
def test_a_script_without_spaces_is_recognized(text, script):
    assert unspaced_script(corpus_of(text)) == script
    assert check(corpus_of(text).files[0])["unspaced_script"] == script


def test_classes_agree_with_the_names_of_unicode():
    """Letters of the scripts are known by their Unicode names, and nothing else is taken for one."""
    words = {"Chinese characters": "CJK ", "kana": ("HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA"), "Thai": "THAI ",
             "Lao": "LAO ", "Tibetan": "TIBETAN ", "Burmese": "MYANMAR ", "Khmer": "KHMER ",
             "Tai": ("TAI ", "NEW TAI LUE"), "Javanese": "JAVANESE"}
    assert set(words) == set(BLOCKS)
    for code in range(0x80, 0x33000):
        script = CLASSES[np.searchsorted(EDGES, code, side="right") - 1]
        name = unicodedata.name(chr(code), "")
        if script and unicodedata.category(chr(code)) in ("Lo", "Mn", "Mc"):
            assert name.startswith(words[NAMES[script - 1]]) or "SOUND MARK" in name, (hex(code), name)


def test_counts_add_up_however_the_text_is_cut():
    whole, parts = Scripts(), Scripts()
    for found, size in ((whole, 1 << 20), (parts, 7)):
        for chunk in corpus_of(CHINESE + ENGLISH + THAI).chunks(size):
            found.add(chunk)
    assert (whole.counts == parts.counts).all() and (whole.spaces, whole.blank) == (parts.spaces, parts.blank)


def test_the_check_suggests_characters_with_the_exact_option(tmp_path):
    (tmp_path / "dao.txt").write_text(CHINESE, encoding="utf-8")
    first, *rest = check(tmp_path / "dao.txt")["suggestions"]
    assert "tokenizer.name=characters_and_bytes" in first["command"]
    assert not any("tokenizer.name=words" in row["command"] for row in rest)


def test_a_recipe_that_splits_at_spaces_says_what_to_choose(tmp_path):
    (tmp_path / "dao.txt").write_text(CHINESE, encoding="utf-8")

    def said(*more):
        command = [warm_python.chainrule(), "train", "ngram", "--data", "dao.txt", "--out", "run", "--force"]
        done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert ("dao.txt is in Chinese characters, without spaces between words, and the tokenizer 'words' takes what "
            "stands between spaces for a word. Try tokenizer=characters_and_bytes, or") in said()
    assert "without spaces" not in said("tokenizer=characters_and_bytes")
