"""A page is one file that holds everything, whatever text is in the data."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

import chainrule.pages.page as pages
from chainrule.errors import ChainruleError, StorageError
from chainrule.pages.page import inlined, write_page

HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "\u2028\u2029", "\ud800 alone", "&lt;", "\x00",
           '"\\u003c', "<img src=x onerror=alert(1)>"]


@pytest.fixture
def bundle(monkeypatch):
    """These tests are of the Python side; the real bundle is drawn in test_report_page.py."""
    files = {"page.js": "console.log('drawn')", "page.css": "body{margin:0}"}
    monkeypatch.setattr(pages, "built", files.__getitem__)
    return files


class Reader(HTMLParser):
    """Collects the elements and what stands in script and title elements."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.contents = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.contents.append((self.elements[-1][0] if self.elements else None, data))


def test_hostile_text_stays_data(tmp_path, bundle):
    write_page(tmp_path / "a.html", view="report", title="</title><script>x", data={"texts": HOSTILE, HOSTILE[0]: 1})
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    read = Reader(text)
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert "img" not in [tag for tag, _ in read.elements]
    data = next(content for tag, content in read.contents if content.startswith('{"view"'))
    assert json.loads(data)["data"] == {"texts": HOSTILE, HOSTILE[0]: 1}
    assert not re.search("[<>&\u2028\u2029]", data)


def test_numbers_that_json_cannot_say_are_null():
    assert inlined({"x": [float("nan"), float("inf"), -float("inf"), 1.5]}) == '{"x": [null, null, null, 1.5]}'


def test_only_the_script_of_the_bundle_may_run_and_nothing_is_fetched(tmp_path, bundle):
    write_page(tmp_path / "a.html", view="report", title="A", data={})
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    policy = next(each["content"] for tag, each in Reader(text).elements if each.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(bundle["page.js"].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert not re.search(r'(?:src|href)="', text)


def test_a_page_replaces_an_older_one_and_leaves_nothing_beside_it(tmp_path, bundle):
    for title in ("older", "newer"):
        write_page(tmp_path / "new" / "a.html", view="report", title=title, data={})
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["a.html"]
    assert "<title>newer</title>" in (tmp_path / "new" / "a.html").read_text(encoding="utf-8")


def test_a_failure_keeps_the_older_page(tmp_path, bundle, monkeypatch):
    write_page(tmp_path / "a.html", view="report", title="older", data={})
    monkeypatch.setattr(pages, "sync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StorageError, match="a.html: the page was not written: No space left on device."):
        write_page(tmp_path / "a.html", view="report", title="newer", data={})
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert "older" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_folder_is_not_overwritten(tmp_path, bundle):
    with pytest.raises(StorageError, match="is a folder, expected the name of a file"):
        write_page(tmp_path, view="report", title="A", data={})


def test_without_the_bundle_one_line_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "files", lambda _: tmp_path)
    with pytest.raises(ChainruleError, match="not built. Run `make page`"):
        write_page(tmp_path / "a.html", view="report", title="A", data={})
    assert not (tmp_path / "a.html").exists()
