"""Pictures of a report for the documents: `python tests/pages/screenshots.py REPORT_FOLDER`.

They go to docs/images/report-*.png and are taken from report.html as it is, in a real browser.
"""

import os
import shutil
import sys
from pathlib import Path

from conftest import NAMES, QUIET, ROOT
from playwright.sync_api import Page, sync_playwright

IMAGES = ROOT / "docs" / "images"
LARGEST = 300_000  # bytes of a picture
ABOVE = 14  # pixels over the first section of a picture


def main(folder: str) -> None:
    browser_path = os.environ.get("CHAINRULE_BROWSER") or next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=QUIET)
        page = browser.new_page(viewport={"width": 1160, "height": 900}, color_scheme="light")
        page.goto((Path(folder) / "report.html").absolute().as_uri())
        save(page, "report-answer", ".head", "#rows")
        save(page, "report-learning", "#curves", "#curves")
        point_at_a_telling_token(page)
        save(page, "report-wins", "#wins", "#wins")
        browser.close()


def point_at_a_telling_token(page: Page) -> None:
    """One of the first tokens, with the strongest color."""
    shades = page.locator(".colored span").evaluate_all(
        "all => all.slice(0, 160).map((span) => span.textContent.trim().length < 3 ? 0 : "
        "parseFloat(/ ([0-9.]+)%/.exec(span.style.background)?.[1] ?? 0))")
    page.locator(".colored span").nth(shades.index(max(shades))).hover()
    page.locator("aside.token .guess").first.wait_for()


def save(page: Page, name: str, first: str, last: str) -> None:
    """The part of the page from one element to another, over its whole width."""
    page.evaluate("scrollTo(0, 0)")
    top, end = (page.locator(each).bounding_box() for each in (first, last))
    high = max(0, top["y"] - ABOVE)
    part = {"x": 0, "y": high, "width": page.viewport_size["width"], "height": end["y"] + end["height"] + 20 - high}
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, full_page=True, clip=part)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
    assert path.stat().st_size < LARGEST


if __name__ == "__main__":
    main(*sys.argv[1:])
