"""Make the pictures of README and docs: first screens of pages of the bundled example.

    make pictures                          # all
    python scripts/pictures.py two study   # some

Each is drawn with two pixels for one, light and dark (``NAME-dark.png``), in Noto Sans, whatever
fonts are here otherwise. ``docs/images/pictures.json`` keeps the command behind each picture, and
the sentences that stand in it, which a test compares with the text beside it.

Needs gnomon[spacy,study,serve,figures], playwright, Chromium (``chromium`` on the path, or the one
that ``playwright install chromium`` brings) and the fonts (Debian: fonts-noto-core). Pictures have
few colours, so that they stay small; text stays sharp.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import gnomon as gn
from gnomon.cli import main
from gnomon.data import example

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
RECORD = IMAGES / "pictures.json"
COLOURS = 64
FONT = "Noto Sans"
LEVELS = ("finding", "undecided")
_TWO = "-t es-en --systems apertium-catalan apertium-direct"
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
        command: as README and docs show it, without ``--html FILE``.
    """

    command: str
    width: int = 1280
    height: int = 800


PICTURES = {
    "two": Picture("gnomon compare ref.txt -i sysA.txt sysB.txt", height=720),
    "report": Picture(f"gnomon muler {_TWO} --features 'pos:*' 'ent:*'"),
    "compare": Picture("gnomon compare -t es-en -m bleu chrf --by domain"),
    "muler": Picture("gnomon muler -t es-en --features 'pos:*'"),
    "difficulty": Picture("gnomon difficulty words -t es-en -m bleu"),
    "bmx": Picture(f"gnomon bmx explain {_TWO} -m chrf --first 60"),
}


@contextlib.contextmanager
def opened(browser: Browser, width: int, height: int, scheme: str) -> Iterator[Page]:
    """A page of two pixels for one, in the font of pictures."""
    dark: Any = scheme
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=2,
        color_scheme=dark,
        bypass_csp=True,
    )
    page = context.new_page()
    # in every page, before it is drawn
    rule = f"*:not(code, pre, code *, pre *) {{ font-family: '{FONT}', sans-serif !important }}"
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { const s = document.createElement('style');"
        f" s.textContent = {json.dumps(rule)}; document.head.append(s); }})"
    )
    yield page
    context.close()


def photograph(page: Page, name: str) -> None:
    """The first screen of a page, in few colours: those that lie farthest apart."""
    target = IMAGES / f"{name}.png"
    page.wait_for_timeout(700)
    page.screenshot(path=target)
    with Image.open(target) as image:
        few = image.convert("RGB").quantize(
            COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


def in_both(browser: Browser, address: str, name: str, width: int = 1280, height: int = 800) -> str:
    """Photograph a page, light and dark; its text."""
    for scheme in ("light", "dark"):
        with opened(browser, width, height, scheme) as page:
            page.goto(address)
            photograph(page, name if scheme == "light" else f"{name}-dark")
            text = page.inner_text("body")
    return text


def run(*arguments: str) -> str:
    """What a command of gnomon prints; it must succeed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = main(list(arguments))
    if code:
        sys.exit(f"gnomon {' '.join(arguments)} ended with {code}")
    return said.getvalue()


def report(browser: Browser, name: str, picture: Picture) -> dict[str, Any]:
    """Photograph the page of a command; the sentences of its answer that stand there."""
    page = Path(f"{name}.html").resolve()
    words = shlex.split(picture.command)[1:]
    answer = json.loads(run(*words, "-q", "-f", "json", "--html", str(page)))
    shown = in_both(browser, page.as_uri(), name, picture.width, picture.height)
    text = " ".join(shown.split()).replace("\u2264", "<=")  # as terminals write it
    found = [one["text"] for one in answer["messages"] if one["level"] in LEVELS]
    sentences = [said for said in found if said in text]
    if not sentences:
        sys.exit(f"the page of {picture.command} holds none of: {found}")
    return {"command": picture.command, "sentences": sentences}


def study(browser: Browser) -> None:
    """The home page of a study."""
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    run("run", "study.toml", "-q")
    run("report", "study.store", "-o", "study.html")
    made = Path("study.html").resolve()
    home = made / "index.html" if made.is_dir() else made
    in_both(browser, home.as_uri(), "study")


def server(browser: Browser, scheme: str) -> None:
    """From the first page of ``gnomon serve`` to the segments of a feature."""
    end = "" if scheme == "light" else "-dark"
    texts = Path("example", "es-en")
    files = [texts / "ref.A.txt", texts / "src.txt"]
    files += [texts / "systems" / f"apertium-{name}.txt" for name in ("direct", "catalan")]
    command = [sys.executable, "-m", "gnomon", "serve", scheme, "--no-browser", "--port", "0"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,  # noqa: S603  # ours
        opened(browser, 1280, 800, scheme) as page,
    ):
        said = iter(process.stdout or ())
        page.goto(next(line.split()[-1] for line in said if "token=" in line))
        photograph(page, f"serve-first{end}")
        page.set_input_files("input[type=file]", files)
        page.click("main button[type=submit]")
        page.wait_for_selector("text=Is this right?")
        photograph(page, f"serve-confirm{end}")
        page.click("text=Compare >> visible=true >> nth=-1")
        page.wait_for_selector("text=MuLER under BLEU")
        photograph(page, f"serve-result{end}")
        result = page.url
        page.goto(f"{result}/segments?feature=pos:VERB&system=apertium-catalan")
        while page.locator("text=Look again").count():
            page.wait_for_timeout(500)
            page.reload()
        photograph(page, f"serve-segments{end}")
        process.terminate()


def chart() -> None:
    """What ``chart()`` draws in a notebook."""
    finding = gn.compare(gn.TestSet.read(example.path()), "chrf", baseline="apertium-direct")
    finding.save_figure(IMAGES / "chart.png")


def make(names: set[str]) -> None:
    """Make the pictures of these names; of all where there is none."""
    every = {*PICTURES, "study", "serve", "chart"}
    wanted = names or every
    if unknown := wanted - every:
        sys.exit(f"there is no picture {', '.join(sorted(unknown))}")
    fonts = subprocess.run(["fc-list", FONT], capture_output=True, text=True, check=False)  # noqa: S603, S607
    if not fonts.stdout:
        sys.exit(f"pictures are set in {FONT}; install it (Debian: fonts-noto-core)")
    IMAGES.mkdir(exist_ok=True)
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    with (
        tempfile.TemporaryDirectory() as temporary,
        contextlib.chdir(temporary),
        sync_playwright() as playwright,
    ):
        texts = shutil.copytree(example.path(), Path("example", "es-en"))
        shutil.copy(texts / "ref.A.txt", "ref.txt")
        for name, system in (("sysA", "apertium-catalan"), ("sysB", "apertium-direct")):
            shutil.copy(texts / "systems" / f"{system}.txt", f"{name}.txt")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, picture in PICTURES.items():
            if name in wanted:
                record[name] = report(browser, name, picture)
        if "study" in wanted:
            study(browser)
        for scheme in ("light", "dark") if "serve" in wanted else ():
            server(browser, scheme)
        browser.close()
    if "chart" in wanted:
        chart()
    made = {name: record[name] for name in PICTURES if name in record}
    RECORD.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make(set(sys.argv[1:]))
