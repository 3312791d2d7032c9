"""Images in .tar files: read where they lie, and one line for what is wrong with them."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from chainrule.errors import DataError
from chainrule.inputs.captioned import Columns, open_captioned
from chainrule.inputs.image_tars import member_at
from chainrule.inputs.pixels import read_pixels
from chainrule.text.options import TextOptions


@pytest.fixture
def folder(tmp_path):
    """A table and an archive with two images, a file that is none, and a link that leads outside."""
    draw = np.random.default_rng(0)
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        for name in ("a.png", "sub/b.png"):
            data = io.BytesIO()
            Image.fromarray(draw.integers(0, 255, (5, 7, 3), np.uint8)).save(data, "png")
            own = tarfile.TarInfo(f"./{name}")
            own.size = len(data.getvalue())
            archive.addfile(own, io.BytesIO(data.getvalue()))
        own = tarfile.TarInfo("bad.png")
        own.size = 7
        archive.addfile(own, io.BytesIO(b"nothing"))
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (tmp_path / "captions.csv").write_text("image,caption\na.png,one\nsub/b.png,two\na.png,three\n")
    return tmp_path


def test_members_are_read_as_they_are(folder):
    corpus = open_captioned(folder / "captions.csv", Columns(folder="images.tar"), TextOptions())
    assert len(corpus.images) == 2 and [path.name for path in corpus.sources] == ["captions.csv", "images.tar"]
    first, second = read_pixels(list(corpus.images), None, None)
    with tarfile.open(folder / "images.tar") as archive:
        for array, name in ((first, "./a.png"), (second, "./sub/b.png")):
            np.testing.assert_array_equal(array, np.asarray(Image.open(archive.extractfile(name))))
    assert sorted(path.name for path in folder.iterdir()) == ["captions.csv", "images.tar"]  # nothing was unpacked


@pytest.mark.parametrize(("name", "words"), [
    ("c.png", r"captions.csv: line 2: .*images.tar: no file 'c.png' in it. Did you mean 'a.png'"),
    ("link.png", r"captions.csv: line 2: .*images.tar: no file 'link.png' in it"),
])
def test_a_member_that_is_not_there_is_named_with_its_row(folder, name, words):
    (folder / "captions.csv").write_text(f"image,caption\n{name},one\n")
    with pytest.raises(DataError, match=words):
        open_captioned(folder / "captions.csv", Columns(folder="images.tar"), TextOptions())


def test_a_damaged_member_is_named_with_its_row(folder):
    (folder / "captions.csv").write_text("image,caption\na.png,one\nbad.png,two\n")
    corpus = open_captioned(folder / "captions.csv", Columns(folder="images.tar"), TextOptions())
    with pytest.raises(DataError, match=r"captions.csv: line 3: .*images.tar#bad.png: not an image that can be read"):
        read_pixels(list(corpus.images), None, None)


def test_an_archive_that_is_cut_or_none_is_one_line(folder):
    whole = (folder / "images.tar").read_bytes()
    (folder / "images.tar").write_bytes(whole[:600])
    with pytest.raises(DataError, match=r"images.tar: .*(cut|damaged).*Copy or download it again"):
        member_at(f"{folder}/images.tar#a.png")
    (folder / "images.tar").write_bytes(b"no archive" * 100)
    with pytest.raises(DataError, match=r"images.tar: not a .tar file, or a damaged one"):
        member_at(f"{folder}/images.tar#a.png")
    assert member_at("photo.png") is None and member_at("photos.npy#7") is None
