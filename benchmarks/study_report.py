"""How soon the pages of a large report show something, in Chromium, from disk.

``python benchmarks/study_report.py [SYSTEMS SEGMENTS]`` makes up a study (200 x 3000 by default:
four metrics, 40 features, spans and importances in every output), writes its report as a folder,
and opens every kind of page three times in a new browser. It prints the medians of the first
contentful paint (PerformanceObserver) and of the time until the first row of data is painted, and
writes them to ``benchmarks/study_report.md``.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gnomon.report.site import write_site

_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_PAGES = {
    "systems": ("systems", "table.data tbody tr"),
    "a method": ("method/package.features", ".drawing svg"),
    "one system": ("system/0/17", "table.data tbody tr"),
    "segments of a feature, worst first": ("segments/0?f=0&s=5&m=1&o=worst", "article"),
    "one segment": ("segment/0/1500?f=3", "table.data tbody tr"),
    "scores of segments": ("table/3", "table.data tbody tr"),
}
_WATCH = """
window.paint = null; window.rows = null;
new PerformanceObserver((list) => { for (const entry of list.getEntries())
  if (entry.name === "first-contentful-paint") window.paint = entry.startTime; })
  .observe({type: "paint", buffered: true});
const look = () => {
  if (!document.querySelector("SELECTOR")) { setTimeout(look, 4); return; }
  requestAnimationFrame(() => requestAnimationFrame(() => { window.rows ??= performance.now(); }));
};
look();
"""


def main(systems: int = 200, segments: int = 3000) -> None:
    """Make up, write, open, print."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        start = time.process_time()
        write_site(report, _made(systems, segments))
        spent = time.process_time() - start
        size = sum(file.stat().st_size for file in report.rglob("*") if file.is_file()) / 1e6
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lines = ["| page | first paint | first row |", "|---|---|---|"]
        lines += [_line(report, name, *what) for name, what in _PAGES.items()]
    text = "\n".join(lines) + (
        f"\n\n{systems} systems x {segments} segments, 4 metrics, 40 features; medians of"
        f" {_ROUNDS} in Chromium, from disk, milliseconds. The folder has {size:.0f} MB; making the"
        f" texts up and writing them took {spent:.0f} s of CPU time and {peak:.0f} MB of memory.\n"
    )
    sys.stdout.write(text)
    (_ROOT / "benchmarks" / "study_report.md").write_text(text, encoding="utf-8")


def _made(systems: int, segments: int) -> Any:  # as tests make studies up
    path = _ROOT / "tests" / "report" / "site" / "made.py"
    spec = importlib.util.spec_from_file_location("site_made", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_made"] = module
    spec.loader.exec_module(module)
    return module.study(systems, segments, features=40, metrics=4)


def _line(place: Path, name: str, route: str, selector: str) -> str:
    timings = [_opened(place, route, selector) for _ in range(_ROUNDS)]
    paint, rows = (statistics.median(values) for values in zip(*timings, strict=True))
    return f"| {name} | {paint:.0f} | {rows:.0f} |"


def _opened(place: Path, route: str, selector: str) -> tuple[float, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(_WATCH.replace("SELECTOR", selector))
        page.goto(f"{(place / 'index.html').as_uri()}#/{route}", wait_until="commit")
        while not page.evaluate("window.paint !== null && window.rows !== null"):
            time.sleep(0.02)
        times = page.evaluate("[window.paint, window.rows]")
        browser.close()
    return times[0], times[1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
