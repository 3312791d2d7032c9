"""The tests lie as the package does: a test's folder is the room of what it tests, and none outlives its room."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS, PACKAGE = ROOT / "tests", ROOT / "chainrule"
BESIDE = {"conventions", "docs", "benchmarks"}  # of the whole repository
FILES = sorted(TESTS.rglob("test_*.py"))


def is_room(folder):
    return next(folder.glob("*.py"), None) is not None  # a folder that only has leftovers is none


def test_every_folder_of_tests_has_its_room_in_the_package():
    folders = {path.parent.relative_to(TESTS) for path in FILES}
    assert not [str(folder) for folder in folders if str(folder) not in BESIDE and not is_room(PACKAGE / folder)]


def test_every_room_of_the_package_has_its_folder_of_tests():
    rooms = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE}
    assert not [room for room in rooms if not next((TESTS / room).rglob("test_*.py"), None)]


def test_what_lies_at_the_top_tests_a_file_at_the_top():
    stems = {path.stem.removeprefix("test_") for path in FILES if path.parent == TESTS}
    assert not [stem for stem in stems if not (PACKAGE / f"{stem}.py").is_file()]


def test_no_two_files_of_tests_have_the_same_name():
    """There are no packages among the tests, so a second module of one name could not be imported."""
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert not [name for name, count in names.items() if count > 1]
    assert len(FILES) > 150
