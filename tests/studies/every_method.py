"""Write docs/study-tables.md: every table of a study of all methods, from a real store.

With ``--check`` nothing is written; the exit code is 1 where the page is not up to date.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon import studies as study
from gnomon.core.spans import ErrorSpan
from gnomon.core.testset import TestSet
from gnomon.data import example
from gnomon.data.formats import write_human

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent.parent / "docs" / "study-tables.md"
HEAD = """\
# Tables of a study

`gnomon query STORE` lists the tables of a store; this page says what their columns mean. It is made
by `scripts/study_tables.py` from a study of all methods. A table is there where its method has run
and had something to put into it; options can bring further tables (`by`, `errors`),
which `Store.describe()` tells in the same way. Undefined cells are `NULL`. The last
ones, from `tasks` on, are tables of the store itself and views.
"""
STUDY = """
metrics = ["bleu", "chrf"]
[[testsets]]
path = "es-en"
name = "es-en"
first = 40
paraphrases = ["es-en/paraphrases/*.txt"]
n = 2
[methods.score]
[methods.muler]
metrics = ["bleu"]
features = ["pos:NOUN", "pos:VERB"]
resamples = 20
per_segment = true
together = true
[methods.muler.validate]
metrics = ["bleu"]
features = ["pos:NOUN"]
draws = 10
[methods.difficulty.score]
metrics = ["bleu"]
[methods.difficulty.words]
metrics = ["bleu"]
[methods.bmx.score]
metrics = ["chrf"]
[methods.bmx.explain]
metrics = ["chrf"]
sample = 3
faithfulness = true
resamples = 20
[methods.paraphrase.diversity]
measures = ["lexical"]
[methods.paraphrase.coverage]
[methods.metaeval]
human = ["da"]
resamples = 20
top = [3]
[methods.metaeval.spans]
human = ["mqm"]
resamples = 20
per_segment = true
[methods.errors]
human = ["mqm"]
features = ["pos:NOUN", "pos:VERB"]
resamples = 20
[methods.compare]
resamples = 20
[methods.human.compare]
human = ["da"]
unit = "segment"
[methods.stress]
limit = 20
doses = [1, 2]
[methods.judges.reliability]
metrics = ["judge(['gemba-da', 'gemba-sqm'], model='m', endpoint='ENDPOINT')"]
injections = 2
[methods.judges.calibrate]
human = ["da"]
metrics = ["judge('gemba-da', model='m', endpoint='ENDPOINT')"]
"""


class _Judge(BaseHTTPRequestHandler):
    """A server of chat completions that answers by the length of the question."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer every question alike."""
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"score": len(asked) % 90, "better": "first"})
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        reply = json.dumps({"model": "m", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def judging() -> Iterator[str]:
    """A judge at work on this machine: its endpoint."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Judge)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> int:
    """Run the study, write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = page(stored(Path(folder)))
    if args.check:
        fits = PAGE.read_text(encoding="utf-8") == text
        if not fits:
            sys.stderr.write(f"{PAGE} is not up to date; run {sys.argv[0]}\n")
        return 0 if fits else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


def stored(folder: Path) -> study.Store:
    """A store of all methods, over the first segments of the example and drawn judgements."""
    copied = folder / "es-en"
    shutil.copytree(example.path(), copied)
    (copied / "human").mkdir()
    draw = random.Random(3)  # noqa: S311  # seeded draws, not secrets
    whole = TestSet.read(copied)
    lines = [
        f"{name}\t{number}\t{draw.randint(0, 100)}"
        for name in whole.systems
        for number in range(1, whole.segments + 1)
    ]
    (copied / "human" / "da.seg.tsv").write_text("\n".join(["system\tseg\tscore", *lines, ""]))
    marks = tuple(
        ErrorSpan(name, number, "candidate", 0, 3, "style", severity, rater=rater, kind="mqm")
        for name in whole.systems
        for number in range(whole.segments)
        for rater in ("ann", "bob")
        for severity in [draw.choice(("minor", "major", ""))]
        if severity
    )
    marked = replace(whole, errors=marks)
    write_human(copied / "human" / "mqm.spans.tsv", marked, "mqm", format="gnomon", level="spans")
    with judging() as endpoint:
        (folder / "study.toml").write_text(STUDY.replace("ENDPOINT", endpoint))
        made = study.plan(study.read_study(folder / "study.toml"))
        outcome = study.run(made, study.open_engine("here"))
    if outcome.failed:
        raise SystemExit("\n".join(outcome.failed.values()))
    return study.Store.open(made.study.store)


def page(store: study.Store) -> str:
    """The page, in Markdown."""
    return HEAD + "".join(_tables(store))


def _tables(store: study.Store) -> Iterator[str]:
    for name, rows in groupby(store.describe().rows, key=lambda row: row[0]):
        yield f"\n## {name}\n\n| column | type | meaning |\n|---|---|---|\n"
        for _, column, kind, meaning in rows:
            said = str(meaning).replace("|", "\\|").replace("\n", " ")
            yield f"| `{column}` | {kind} | {said} |\n"


if __name__ == "__main__":
    sys.exit(main())
