"""Every command and the Python API on the bundled example, by the Python that runs this file.

A plain program for an environment with the core install alone: ``scripts/pythons.py`` runs it under
each Python of the machine. Commands that need more must say how to get it.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import pkgutil
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.snapshot.cases import Case, example
from tests.snapshot.record import call, options

import gnomon as gn
from gnomon.core import options as declared

_SET = "-t es-en --first 12"
_JUDGED = "-t judged/es-en --first 12"
_WIDE = "-t judged/es-en --paraphrases judged/es-en/paraphrases/*.txt"
_NUMBERS = "--features re:number --pattern number=[0-9]+"
_LLM = """-m "judge('gemba-da', model='m')" """
_JUDGE = "pip install 'gnomon[judge]'"
_STUDY = "pip install 'gnomon[study]'"
_MODELS = "pip install 'gnomon[models]'"

#: calls in order; behind a bar, what a call says that cannot run here
_CALLS = f"""
score {_SET} -m bleu chrf chrf++ ter rouge1 rougeL 'difficulty(rouge1)'
score {_SET} -m sbert | {_MODELS}
compare {_SET} -m bleu chrf ter --resamples 20
compare {_SET} -m "pear('none')" | gnomon setup model none
check {_SET} -m chrf --resamples 20
align es-en/ref.A.txt -i whole.txt
metaeval {_JUDGED} -m bleu chrf --human da --resamples 20
metaeval delta-accuracy {_JUDGED} -m chrf --human da --resamples 20 | takes 3 test sets or more
metaeval spans {_JUDGED} -m chrf --human mqm --resamples 20
judges reliability {_SET} {_LLM} | {_JUDGE}
compare {_SET} -m "judge('pairwise', model='m')" | {_JUDGE}
judges calibrate {_JUDGED} --human da {_LLM} | {_JUDGE}
score {_SET} {_LLM} --batch-write requests.jsonl
muler {_SET} -m bleu {_NUMBERS} --resamples 20
muler {_SET} -m bleu --features pos:* | gnomon setup en
muler {_SET} -m none {_NUMBERS} --resamples 20
muler {_SET} -m none --scorers mine=ratings.tsv --resamples 20
muler validate {_SET} {_NUMBERS} --draws 20
muler correlate {_SET} {_NUMBERS}
errors {_JUDGED} --human mqm {_NUMBERS} --resamples 20
errors {_JUDGED} --human mqm {_NUMBERS} --resamples 20
bmx score -t es-en --first 4 -m chrf --explainer erasure
bmx explain {_JUDGED} -m chrf --explainers erasure random
bmx tune -t judged/es-en judged/gl-en --human mqm -m chrf --sample 12 --resamples 20
difficulty score {_JUDGED} -m rouge1
difficulty words {_SET} -m rouge1
paraphrase generate {_SET} --save generated.jsonl --method 'pseudo(chrf)'
paraphrase train --pairs pairs.txt --save trained | pip install
paraphrase codes --texts a.txt --kind random --k 4 --save codes | {_MODELS}
metaeval {_WIDE} --human da -m bleu --n 1 2 --resamples 20
paraphrase coverage {_WIDE}
paraphrase coverage {_SET} --missing-per-segment wanted.jsonl
paraphrase diversity {_WIDE} -m chrf
human compare {_JUDGED} --human da
human plan --difference 2 --protocol esa
human sheet {_JUDGED} --items 5 --save sheet.tsv --form sheet.html --key sheet.key
human sheet --read sheet.tsv --key sheet.key | no item is answered
human sample -t judged/es-en --segments 10 --raters 2 --save campaign.json
stress --pairs minimal.tsv -m bleu chrf
stress {_SET} -m chrf --perturb number swap --limit 20
train metric {_JUDGED} --encoder none --save trained | {_MODELS}
run small.toml | {_STUDY}
query study.store 'select 1' | {_STUDY}
report study.store -o study.html | nothing is in the store
export study.store -o tables | {_STUDY}
data list
data fetch none | 'none'
data convert judged/es-en -o converted
info {_SET}
list metrics
setup en --dry-run
selftest
cache
demo
serve --no-browser | pip install 'gnomon[serve]'
"""

_SMALL = """\
name = "small"
store = "small.store"
[[testsets]]
path = "es-en"
[methods.score]
metrics = ["bleu"]
"""


def _files(folder: Path) -> None:
    example(folder)
    columns = "good-translation\tincorrect-translation\treference\tphenomena\n"
    row = "a cat sat\ta dog sat\ta cat was sitting\tnoun\n"
    (folder / "minimal.tsv").write_text(columns + row * 30, "utf-8")
    (folder / "trees.ptb").write_text("(S (NP (DT the) (NN cat)) (VP (VB sat)))\n" * 3, "utf-8")
    (folder / "pairs.txt").write_text("one\tun\n" * 9, "utf-8")
    (folder / "small.toml").write_text(_SMALL, "utf-8")
    gn.study.Store.open(folder / "study.store", create=True)


def _commands() -> Iterator[tuple[str, Callable[[], None]]]:
    """Each call as text, and as JSON and a page where it gives these."""
    known = options()
    lacking = set(known)
    for line, _, refusal in (line.partition(" | ") for line in _CALLS.strip().split("\n")):
        command = max((name for name in known if f"{line} ".startswith(f"{name} ")), key=len)
        lacking.discard(command)
        taken = {form for names in known[command] for form in names.split("/")}
        argv = Case(line, line).argv()
        if refusal:
            yield line, lambda argv=argv, refusal=refusal: _refuses(argv, refusal)
            continue
        yield line, lambda argv=argv: _answers(argv, page=False, data=False)
        data, page = "--format" in taken, "--html" in taken
        once = "--add" in argv or "--batch-write" in argv  # a name is taken then; it has no page
        if (data or page) and not once:
            yield (
                f"{line} (JSON, page)",
                lambda argv=argv, data=data, page=page: _answers(argv, page=page, data=data),
            )
    yield "every command has a call here", lambda: _same(lacking, set())


def _refuses(argv: list[str], wanted: str) -> None:
    code, _, err = call(argv)
    last = err.strip().rpartition("\n")[2]
    if code not in (1, 2) or not err.strip() or wanted not in err:
        raise AssertionError(f"exit code {code}, {wanted!r} is not in: {last}")


def _answers(argv: list[str], *, page: bool, data: bool) -> None:
    file = Path("page.html")
    file.unlink(missing_ok=True)
    shutil.rmtree("converted", ignore_errors=True)  # must be new
    code, out, err = call([*argv, *(("-f", "json") * data), *(("--html", str(file)) * page)])
    if code != 0 or not out.strip():
        raise AssertionError(f"exit code {code}: {err}")
    if data:
        content = json.loads(out)
        if not (content["rows"] or any(content["tables"].values())):
            raise AssertionError("no rows")
    if page and "</html>" not in file.read_text(encoding="utf-8"):
        raise AssertionError("no page")


def _api() -> Iterator[tuple[str, Callable[[], None]]]:
    """Public names and what they take, documented examples, and a session as in the README."""
    for package in gn.__all__:
        home = getattr(gn, package)
        if inspect.ismodule(home):
            for name in home.__all__:
                yield f"gnomon.{package}.{name}", lambda home=home, name=name: _public(home, name)
        elif inspect.isfunction(home):
            yield f"gnomon.{package}", lambda package=package: _public(gn, package)
    for found in pkgutil.walk_packages(gn.__path__, "gnomon."):
        if not found.name.endswith("__main__"):
            yield f"examples of {found.name}", lambda name=found.name: _documented(name)
    yield "a session in Python", _session


def _public(home: object, name: str) -> None:
    public = getattr(home, name)
    if inspect.isfunction(public):
        inspect.signature(public)
        declared.options_of(public)


#: packages of modules behind commands that say what is missing
_BEHIND_COMMANDS = ("torch", "transformers", "starlette", "uvicorn", "anyio", "duckdb", "pyarrow")


def _documented(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in _BEHIND_COMMANDS:
            return
        raise
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(module, optionflags=flags)
    _same(failed, 0)


def _session() -> None:
    systems = sorted(str(path) for path in Path("es-en/systems").glob("*.txt"))[:2]
    ts = gn.TestSet.from_files(
        references=["es-en/ref.A.txt"], systems=systems, source="es-en/src.txt", language_pair="en"
    )
    small = ts.select(segments=range(20))
    scores = gn.score(small, "bleu")
    _same(scores.segments.shape, (2, 20))
    own = gn.metric(lambda candidate, reference: float(candidate == reference), name="exact")
    judged = gn.TestSet.read("judged/es-en")
    numbers = {"features": ["re:number"], "pattern": {"number": r"\d+"}, "resamples": 20}
    for found in (
        gn.compare(small, ["bleu", own], resamples=20),
        gn.muler(small, "bleu", **numbers),
        gn.difficulty.score(small, "rouge1"),
        gn.bmx.explain(small.select(segments=range(4)), "chrf", explainers=["erasure"]),
        gn.metaeval(judged, ["bleu", gn.score(judged, "chrf")], human="da", resamples=20),
    ):
        _same(bool(found.rows and found.verdict and repr(found)), True)
        _same("<" in found._repr_html_(), True)
    _same(gn.TestSet.from_lists({"a": ["x y"]}, ["x z"]).systems["a"][0], "x y")
    _same(round(gn.muler.ratio(30, 40, 20), 6), 0.5)
    _same(round(gn.stats.pearson([1, 2, 3], [1, 2, 4]), 6), 0.981981)
    try:
        gn.score("es-en", "bleu")
    except gn.errors.WrongTypeError:
        return
    raise AssertionError("a path was taken for a test set")


def _same(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r}, not {wanted!r}")


def main() -> int:
    """Run all checks, and say how many failed."""
    warnings.filterwarnings("error", module=r"gnomon\b")
    failed = number = 0
    with tempfile.TemporaryDirectory(prefix="gnomon-") as folder, chdir(folder):
        os.environ |= {"GNOMON_CACHE": f"{folder}/.cache", "COLUMNS": "120", "NO_COLOR": "1"}
        _files(Path(folder))
        for checks in (_commands, _api):
            for name, check in checks():
                number += 1
                try:
                    check()
                except Exception:  # noqa: BLE001  # all that fail are named
                    failed += 1
                    sys.stdout.write(f"{name}:\n{traceback.format_exc(limit=-4)}\n")
    sys.stdout.write(f"{number} checks, {failed} failed\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
