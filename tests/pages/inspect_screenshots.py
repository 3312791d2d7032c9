"""Pictures of the page of `chainrule inspect` for the documents: `python tests/pages/inspect_screenshots.py PAGE.html`.

They go to docs/images/inspect-*.png. The page is one of a model with attention.
"""

import os
import shutil
import sys
from pathlib import Path

from conftest import NAMES, QUIET
from playwright.sync_api import sync_playwright
from screenshots import save

TOKEN = 30  # of those that were read: the one that is seen to look


def main(path: str) -> None:
    browser_path = os.environ.get("CHAINRULE_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=QUIET)
        page = browser.new_page(viewport={"width": 1160, "height": 900}, color_scheme="light")
        page.goto(Path(path).absolute().as_uri())
        save(page, "inspect-text", "#surprisal", "#surprisal")
        page.locator(".looks .colored span").nth(TOKEN).hover()
        page.locator(f".looks .colored span.chosen[data-at='{TOKEN}']").wait_for()
        save(page, "inspect-attention", "#attention", "#attention")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
