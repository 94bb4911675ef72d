"""The picture of a report for the README: `python tools/report_picture.py demo-result/report.html docs/report.png`.

Needs the extra `browser` and the system's chromium, as `make test-browser` installs them.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, SCALE, COLORS = 1200, 1.25, 160
ROWS = 3  # features of the table; the charts say more
PARTS = ("header", "#features", "#scores", "#alike")


def main(page_file: Path, target: Path) -> None:
    """Open the page, and keep the answer, the first features, the curve and the map, in few colors."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": WIDTH}, device_scale_factor=SCALE)
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        unneeded = f"nav, details, .readout, .zoom, #table tbody tr:nth-child(n + {ROWS + 1})"
        page.evaluate(f"for (const one of document.querySelectorAll('{unneeded}')) one.remove()")
        parts = [Image.open(io.BytesIO(page.locator(part).screenshot())) for part in PARTS]
        browser.close()
    seen = Image.new("RGB", (max(part.width for part in parts), sum(part.height for part in parts)), "white")
    top = 0
    for part in parts:
        seen.paste(part, ((seen.width - part.width) // 2, top))
        top += part.height
    seen.quantize(COLORS, Image.Quantize.MAXCOVERAGE).save(target, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
