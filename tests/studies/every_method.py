"""A study of all methods over the example, with judges and judgements that are made up."""

from __future__ import annotations

import json
import random
import shutil
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon import studies as study
from gnomon.core.spans import ErrorSpan
from gnomon.core.testset import TestSet
from gnomon.data import example
from gnomon.data.formats import write_human

if TYPE_CHECKING:
    from collections.abc import Iterator

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
[methods.paraphrase.diversity]
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
[methods.check]
kinds = ["untranslated", "shape"]
[methods.stress]
limit = 20
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


def stored(folder: Path) -> study.Store:
    """A store of all methods, over the first segments of the example and drawn judgements."""
    copied = folder / "es-en"
    shutil.copytree(example.path(), copied)
    (copied / "human").mkdir()
    draw = random.Random(3)  # seeded draws, not secrets
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
        raise SystemExit("\n".join(map(str, outcome.failed.values())))
    return study.Store.open(made.study.store)
