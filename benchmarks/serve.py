"""What pages of a large study cost: opened and searched.

``python benchmarks/serve.py`` prints a table and writes it to ``benchmarks/serve.md``. A study of
made-up texts (words of the bundled example, drawn with a seed) with two systems, BLEU and
MuLER on a pattern is run at two sizes, then shown by a server in a process of its own that has
seen nothing before. Times are of the wall clock of a request as a browser waits for it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import keep

from gnomon.data import example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.serve.index import IndexedSet

SIZES = (10_000, 100_000)
_STUDY = """
name = "large"
store = "large.store"
metrics = ["bleu"]
[[testsets]]
path = "{texts}"
language_pair = "es-en"
[methods.score]
[methods.muler]
features = ["re:the"]
pattern = {{ the = '\\bthe\\b' }}
resamples = 0
"""


def texts(folder: Path, segments: int) -> Path:
    """A test set of so many segments of 8 to 30 words."""
    draw = random.Random(7)  # noqa: S311  # texts, no secrets
    words = (example.path() / "ref.A.txt").read_text(encoding="utf-8").split()
    target = folder / f"texts-{segments}"
    (target / "systems").mkdir(parents=True)
    files = [target / "ref.A.txt", *(target / "systems" / f"{name}.txt" for name in "AB")]
    streams = [file.open("w", encoding="utf-8") for file in files]
    for _ in range(segments):
        line = draw.choices(words, k=draw.randint(8, 30))
        for number, stream in enumerate(streams):
            kept = [word for word in line if not number or draw.random() < 0.9]
            stream.write(" ".join(kept or line) + "\n")
    for stream in streams:
        stream.close()
    return target


def study(folder: Path, segments: int) -> Path:
    """The store of a study of so many segments."""
    place = folder / str(segments)
    place.mkdir()
    (place / "study.toml").write_text(_STUDY.format(texts=texts(folder, segments)))
    command = [sys.executable, "-m", "gnomon", "run", str(place / "study.toml"), "-q"]
    subprocess.run([*command, "--workers", "2"], check=True, stdout=subprocess.DEVNULL)
    return place / "large.store"


class Browser:
    """Asks a server, with its cookie, and says how long that took."""

    def __init__(self, link: str) -> None:
        self.address = re.match(r"https?://[^/]+", link)[0]  # type: ignore[index]  # it is one
        self.open = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar())
        ).open
        self.open(link).read()

    def get(self, path: str, **headers: str) -> tuple[float, str, int]:
        """Seconds, the page, and its status."""
        asked = urllib.request.Request(self.address + path, headers=headers)  # noqa: S310  # http
        begun = time.perf_counter()
        try:
            with self.open(asked) as answer:
                page, status = answer.read().decode(), answer.status
        except urllib.error.HTTPError as error:
            page, status = error.read().decode(), error.code
        return time.perf_counter() - begun, page, status


@contextmanager
def server(store: Path, home: Path) -> Iterator[tuple[Browser, int, float]]:
    """A fresh server of a store: a browser in it, its process, seconds to the first page."""
    command = [
        sys.executable,
        "-m",
        "gnomon",
        "serve",
        str(store),
        "--no-browser",
        "--port",
        "8799",
    ]
    begun = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "XDG_DATA_HOME": str(home)},
    ) as process:
        said = process.stdout or ()
        link = next(m[0] for line in said if (m := re.search(r"http\S+token=\S+", line)))
        browser = Browser(link)
        try:
            yield browser, process.pid, time.perf_counter() - begun
        finally:
            process.terminate()


def megabytes(process: int) -> float:
    """What a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(store: Path, segments: int, home: Path) -> dict[str, float]:
    """What each page costs."""
    from gnomon.serve.store_pages import stored_study

    os.environ["XDG_DATA_HOME"] = str(home)  # where the index is
    base = f"/studies/{stored_study(store).id}"
    made: dict[str, float] = {}
    with server(store, home) as (browser, process, made["first page of a fresh server, s"]):
        made["study opens, s"] = browser.get(base)[0]
        begun = time.perf_counter()
        made_index = stored_study(store).folder / "index"
        browser.get(f"{base}/segments")  # which begins it
        _wait(lambda: all(one.texts == "ready" for one in _sets(made_index)))
        made["texts can be read after, s"] = time.perf_counter() - begun
        _wait(lambda: all(one.marks == "ready" for one in _sets(made_index)))
        made["words are marked after, s"] = time.perf_counter() - begun
        for name, query in (
            ("first segments, s", ""),
            ("last segments, s", f"?page={segments // 10}"),
            ("by lowest score of a system, s", "?sort=worst&system=A"),
            ("with two words, s", "?q=the+of&shortest=10&longest=12"),
            ("of a feature and a system, s", "?feature=re:the&system=B&sort=worst"),
        ):
            made[name] = min(browser.get(f"{base}/segments{query}")[0] for _ in range(3))
        made["memory of the server, MB"] = megabytes(process)
    return made


def _sets(index: Path) -> Sequence[IndexedSet]:
    """What is indexed so far; a set that is not ready where there is nothing."""
    from gnomon.serve.index import IndexedSet, read_index

    made = read_index(index)
    return made.sets if made is not None and made.sets else [IndexedSet("", 0, [], [])]


def _wait(done: Callable[[], bool]) -> None:
    while not done():
        time.sleep(0.2)


def main() -> None:
    """Measure, print, write the table."""
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        for segments in sizes:
            store = study(Path(folder), segments)
            costs.append(measure(store, segments, Path(folder, f"home-{segments}")))
    heads = " | ".join(f"{segments:,} segments" for segments in sizes)
    lines = [f"| | {heads} |", f"|---{'|---' * len(sizes)}|"]
    rows = ((name, " | ".join(f"{of[name]:.2f}" for of in costs)) for name in costs[0])
    lines += [f"| {name} | {figures} |" for name, figures in rows]
    lines.append("")
    lines.append("Two systems, BLEU, MuLER on a pattern; two cores; the study has run before.")
    keep("serve", lines)


if __name__ == "__main__":
    main()
