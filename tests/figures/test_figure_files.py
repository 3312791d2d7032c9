"""Figures as files: SVG always, PNG where resvg-py and a font are installed; otherwise one line says what to do."""

import struct

import pytest

from chainrule.errors import ChainruleError, OptionError, StorageError, UsageError
from chainrule.figures import files
from chainrule.figures.drawing import Figure, words
from chainrule.figures.files import check_figure, write_figure

FIGURE = Figure("a", 60, 30, words(5, 20, "Figure"))


def test_an_svg_file_is_the_figure(tmp_path):
    write_figure(tmp_path / "a.svg", FIGURE)
    assert (tmp_path / "a.svg").read_text() == FIGURE.svg() == FIGURE._repr_svg_()
    with pytest.raises(UsageError, match=r"--out = '.*a.pdf', expected a name that ends in \.html, \.svg or \.png\."):
        check_figure(tmp_path / "a.pdf", (".html",))
    with pytest.raises(StorageError, match="not a regular file"):
        (tmp_path / "folder.svg").mkdir()
        write_figure(tmp_path / "folder.svg", FIGURE)


def test_without_the_package_png_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"expected a name that ends in \.svg\. PNG .*install 'chainrule\[png\]'"):
        write_figure(tmp_path / "a.png", FIGURE)
    assert not list(tmp_path.iterdir())


def test_a_png_has_twice_the_pixels_and_its_text(tmp_path):
    pytest.importorskip("resvg_py")
    write_figure(tmp_path / "a.png", FIGURE)
    write_figure(tmp_path / "empty.png", Figure("a", 60, 30, ""))
    data = (tmp_path / "a.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (120, 60)
    assert len(data) > len((tmp_path / "empty.png").read_bytes()) + 200, "the text is drawn"


def test_a_machine_without_fonts_is_told_so(tmp_path, monkeypatch):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(files, "SANS_FONTS", ("No Such Font",))
    with pytest.raises(ChainruleError, match="PNG files need a font, and none of No Such Font is installed"):
        write_figure(tmp_path / "a.png", FIGURE)
    assert not list(tmp_path.iterdir())
