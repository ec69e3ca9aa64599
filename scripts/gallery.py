"""Make the pictures of README and docs/gallery.md: first screens of pages of the bundled example.

    python scripts/gallery.py                # all
    python scripts/gallery.py compare study  # some

Needs gnomon[spacy,study,serve,figures], playwright and Chromium (``chromium`` on the path, or the
one that ``playwright install chromium`` brings). Pictures have few colours, so that they stay
small; text stays sharp.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import gnomon as gn
from gnomon.cli import main
from gnomon.data import example

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLOURS = 64
TWO = ("--systems", "apertium-catalan", "apertium-direct")
STUDY = """\
name = "Spanish-English by Apertium"
metrics = ["bleu", "chrf"]
store = "study.store"
[[testsets]]
path = "example/es-en"
name = "apertium"
language_pair = "es-en"
[methods.score]
[methods.compare]
[methods.muler]
together = true
features = ["pos:*", "ent:*"]
[methods.difficulty.words]
"""


@dataclass(frozen=True)
class Picture:
    """The first screen of the page that a command writes.

    Attributes:
        command: of gnomon, without ``--html``; the test set is put behind it.
        scheme: light or dark.
    """

    command: tuple[str, ...]
    width: int = 1280
    height: int = 800
    scheme: str = "light"
    options: tuple[str, ...] = ()


PICTURES = {
    "report": Picture(("muler",), options=(*TWO, "--features", "pos:*", "ent:*")),
    "compare": Picture(("compare",), options=("-m", "bleu", "chrf", "--by", "domain")),
    "compare-phone": Picture(("compare",), width=390, height=844, options=("-m", "bleu")),
    "muler": Picture(("muler",), scheme="dark", options=("--features", "pos:*")),
    "difficulty": Picture(("difficulty", "words"), options=("-m", "bleu")),
    "bmx": Picture(("bmx", "explain"), options=(*TWO, "-m", "chrf", "--first", "60")),
}


def shoot(browser: Browser, page_file: Path, picture: Picture, target: Path) -> None:
    """Photograph the top of a page, in few colours."""
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.scheme == "dark" else "light",
    )
    page.goto(page_file.as_uri())
    page.wait_for_timeout(500)
    page.screenshot(path=target)
    page.close()
    shrink(target)


def shrink(target: Path) -> None:
    """Keep the colours that lie farthest apart: those of thin marks too."""
    with Image.open(target) as image:
        few = image.convert("RGB").quantize(
            COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


def run(*arguments: str) -> None:
    """A command of gnomon, which must succeed."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(list(arguments))
    if code:
        sys.exit(f"gnomon {' '.join(arguments)} ended with {code}")


def study(browser: Browser, folder: Path) -> None:
    """The home page of a study."""
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run("run", str(folder / "study.toml"), "-q")
    run("report", str(folder / "study.store"), "-o", str(folder / "study.html"))
    made = folder / "study.html"
    home = made / "index.html" if made.is_dir() else made
    shoot(browser, home, Picture(()), IMAGES / "study.png")


def server(browser: Browser, folder: Path) -> None:
    """From the first page of ``gnomon serve`` to the segments of a feature."""
    texts = folder / "example" / "es-en"
    files = [texts / "ref.A.txt", texts / "src.txt"]
    files += [texts / "systems" / f"{name}.txt" for name in reversed(TWO[1:])]
    command = [sys.executable, "-m", "gnomon", "serve", str(folder / "comparisons")]
    command += ["--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # ours
        said = iter(process.stdout or ())
        way_in = next(line.split()[-1] for line in said if "token=" in line)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(way_in)
        photograph(page, "serve-first")
        page.set_input_files("input[type=file]", files)
        page.click("main button[type=submit]")
        page.wait_for_selector("text=Is this right?")
        photograph(page, "serve-confirm")
        page.click("text=Compare >> visible=true >> nth=-1")
        page.wait_for_selector("text=MuLER under BLEU")
        photograph(page, "serve-result")
        result = page.url
        page.goto(f"{result}/segments?feature=pos:VERB&system=apertium-catalan")
        while page.locator("text=Look again").count():
            page.wait_for_timeout(500)
            page.reload()
        photograph(page, "serve-segments")
        page.close()
        process.terminate()


def photograph(page: Page, name: str) -> None:
    """The first screen of a page, in few colours."""
    target = IMAGES / f"{name}.png"
    page.wait_for_timeout(300)
    page.screenshot(path=target)
    shrink(target)


def figure() -> None:
    """What ``chart()`` draws in a notebook."""
    finding = gn.compare(gn.TestSet.read(example.path()), "chrf", baseline="apertium-direct")
    finding.save_figure(IMAGES / "chart.png")
    shrink(IMAGES / "chart.png")


def make(names: set[str]) -> None:
    """Make the pictures of these names; of all where there is none."""
    every = {*PICTURES, "study", "serve", "chart"}
    wanted = names or every
    if unknown := wanted - every:
        sys.exit(f"there is no picture {', '.join(sorted(unknown))}")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        shutil.copytree(example.path(), folder / "example" / "es-en")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, picture in PICTURES.items():
            if name in wanted:
                page = folder / f"{name}.html"
                texts = ("-t", str(folder / "example" / "es-en"))
                run(*picture.command, *texts, *picture.options, "-q", "--html", str(page))
                shoot(browser, page, picture, IMAGES / f"{name}.png")
        if "study" in wanted:
            study(browser, folder)
        if "serve" in wanted:
            server(browser, folder)
        browser.close()
    if "chart" in wanted:
        figure()


if __name__ == "__main__":
    make(set(sys.argv[1:]))
