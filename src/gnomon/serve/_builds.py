"""What takes longer than a page may, made in a process of its own: a report, a sheet for people.

How far it is stands in ``made-NAME.json`` of the study's folder, so that nothing is lost when the
server ends.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from gnomon import studies
from gnomon.core.errors import DataError, GnomonError, UsageError
from gnomon.serve import _index
from gnomon.serve._background import Background, begin_work
from gnomon.serve._comparison import USUAL_METRICS, WORD_METHOD, read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gnomon.studies import Store

State = Literal["none", "running", "done", "failed"]


class Build(msgspec.Struct):
    """What is made, and how far it is."""

    what: str
    state: State = "none"
    stage: str = ""
    done: int = 0
    total: int = 0
    said: str = ""
    stamp: str = ""


_work = Background(__name__)
#: how often progress is written: every so many steps
_STEPS = 20


def build_of(folder: Path, what: str) -> Build:
    """How far something is; what was begun by a server that ended is none."""
    build = read_record(_file(folder, what), Build) or Build(what)
    if build.state == "running" and not _work.runs((folder, what)):
        return Build(what, "failed", said="It was interrupted; make it again.")
    return build


def _file(folder: Path, what: str) -> Path:
    return folder / f"made-{what}.json"


def begin(store: Path, folder: Path, what: str, options: Mapping[str, str]) -> Build:
    """Begin to make something, unless it is being made."""
    if what not in BUILDS:
        raise UsageError(f"there is no {what!r} to make")
    if _work.runs((folder, what)):
        return build_of(folder, what)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    build = Build(what, "running")
    _keep(folder, build)
    work = {"store": str(store.resolve()), "folder": str(folder.resolve()), "what": what}
    _work.start((folder, what), {**work, "options": dict(options)})
    return build


def stop(folder: Path) -> None:
    """End all that is being made for a study, which is to be deleted; its index, too."""
    _index.stop(folder / "index")
    for what in BUILDS:
        _work.stop((folder, what))


def _keep(folder: Path, build: Build) -> None:
    write_record(_file(folder, build.what), build, durable=False)


# Making: what the process does.


def main() -> None:
    """Make something; what the process runs."""
    given = begin_work(niceness=5)
    make(Path(given["store"]), Path(given["folder"]), given["what"], given["options"])


def make(store: Path, folder: Path, what: str, options: Mapping[str, str]) -> Build:
    """Make something, here and now."""
    from gnomon.serve._problems import in_words as without_paths
    from gnomon.serve._worker import in_words

    build = Build(what, "running")

    def progress(stage: str, done: int, total: int) -> None:
        if stage != build.stage or done - build.done >= max(1, total // _STEPS) or done == total:
            build.stage, build.done, build.total = stage, done, total
            _keep(folder, build)

    try:
        BUILDS[what](studies.Store(store), folder, options, progress)
        build.state = "done"
    except GnomonError as error:
        said, remedy = in_words(str(error), folder, "")
        words = [without_paths(said), remedy.text if remedy else ""]
        build.state, build.said = "failed", " ".join(filter(None, words))
    except BaseException:
        build.state, build.said = "failed", "Something went wrong; the log of the server says more."
        _keep(folder, build)
        raise
    _keep(folder, build)
    return build


def _report(store: Store, folder: Path, _options: Mapping[str, str], progress: Any) -> None:
    """The pages of ``gnomon report``."""
    from gnomon.core.cache import Cache, default_path
    from gnomon.report.site import write_site
    from gnomon.studies import pages

    if not store.files():
        raise UsageError("nothing was computed yet, so that there is nothing to report")
    content = pages(store, cache=Cache(default_path()), progress=progress)
    write_site(folder / "report", content, progress=progress)


def _sheet(store: Store, folder: Path, options: Mapping[str, str], progress: Any) -> None:
    """A blind sheet, a page to fill in, and apart from them the key, as ``gnomon human sheet``."""
    import tempfile

    import gnomon
    from gnomon.core.cache import Cache, default_path

    sets = {planned.name: planned for planned in store.sets()}
    name = options.get("testset") or next(iter(sets), "")
    if name not in sets:
        raise UsageError("there is no such test set in this study")
    items = options.get("items") or "50"
    if not items.isascii() or not items.isdecimal() or not 1 <= int(items) <= 500:
        raise UsageError(f"items is a number from 1 to 500; got {items[:20]!r}")
    testset = sets[name].read()
    if len(testset.systems) < 2:
        raise UsageError("a sheet shows pairs of translations, and there is one; add a second one")
    steps = [step for step in store.steps() if step.method == WORD_METHOD]
    given = {k: v for step in steps[:1] for k, v in step.options.items() if k in _OF_FEATURES}
    metric = next((metric for step in steps for metric in step.metrics), USUAL_METRICS[0])
    of_muler: dict[str, Any] = {"metrics": metric, "origin": "muler", **given}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        places = {what: Path(scratch, file) for what, file in _SHEET_FILES.items()}
        try:
            gnomon.human.sheet(
                testset,
                **({} if options.get("any") else of_muler),
                items=int(items),
                progress=progress,
                cache=Cache(default_path()),
                **places,
            )
        except DataError as error:
            if "max_score_gap" in str(error):  # an option that nobody sets here
                raise UsageError(_NO_PAIRS) from error
            raise
        archive = Path(scratch, "sheet.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for what in ("save", "form"):
                file.write(places[what], places[what].name)
            file.writestr("README.txt", _SHEET_README)
        places["key"].replace(folder / KEY)
        archive.replace(folder / "sheet.zip")


_OF_FEATURES = frozenset({"features", "tagger", "lexicon", "pattern"})
#: whose output is whose: kept from those who judge
KEY = "key.tsv"
_SHEET_FILES = {"save": "sheet.tsv", "form": "form.html", "key": KEY}
_NO_PAIRS = (
    "no two translations of nearly the same score differ on a kind of word; take any two"
    " translations, or compare more text"
)
_SHEET_README = """\
form.html   open it in a browser, choose A, B or tie for each item, save the answers
sheet.tsv   the same for a spreadsheet: write A, B or tie into the column answer

Which output is whose stands in key.tsv, which whoever made this sheet downloads by itself.
What the answers say:  gnomon human sheet --read anna.tsv ben.tsv --key key.tsv
"""
BUILDS: Mapping[str, Callable[..., None]] = {"report": _report, "sheet": _sheet}
