"""Scoring speed as ratios against sacreBLEU, in one run, interleaved, medians, equal results.

``python benchmarks/muler.py`` prints the table and writes it to ``benchmarks/RESULTS.md``. It uses
WMT19 de-en where the folder named by ``GNOMON_SHARED`` (default ``../shared``) holds it, else the
bundled example, and a spaCy pipeline for English. CPU seconds of one thread are compared; nothing
is asserted about them.
"""

from __future__ import annotations

import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

import gnomon as gn
from gnomon import cache, example
from gnomon.annotate import annotate
from gnomon.metrics import MaskPlan, bind
from gnomon.metrics.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.spans import SpanTable

_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_SEGMENTS, _SYSTEMS = 500, 4


@dataclass(frozen=True)
class Row:
    """One comparison: CPU seconds, medians over the rounds."""

    task: str
    peer: str
    ours: float
    theirs: float

    def line(self) -> str:
        """A row of the table."""
        return f"| {self.task} | {self.peer} | {self.theirs / self.ours:.1f}x |"


def testset() -> gn.TestSet:
    """Some segments of real systems."""
    shared = Path(os.environ.get("GNOMON_SHARED", _ROOT.parent / "shared"))
    folder = shared / "data/wmt19/de-en"
    whole = gn.TestSet.read(folder if folder.is_dir() else example.path())
    systems = {n: texts[:_SEGMENTS] for n, texts in list(whole.systems.items())[:_SYSTEMS]}
    references = [str(text) for text in whole.references["A"][:_SEGMENTS]]
    return gn.TestSet.from_lists(systems, references, language_pair="en", name=whole.name)


def compare(task: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object]) -> Row:
    """Run both in turn; their results must be equal."""
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(_ROUNDS):
        found = {}
        for name, run in (("ours", ours), ("theirs", theirs)):
            begun = time.process_time()
            found[name] = np.asarray(run())
            seconds[name].append(time.process_time() - begun)
        if not np.allclose(found["ours"], found["theirs"], rtol=0, atol=1e-9):
            raise SystemExit(f"{task}: results differ")
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return Row(task, peer, middle["ours"], middle["theirs"])


def fresh(data: gn.TestSet) -> gn.TestSet:
    """The same data without anything remembered of them."""
    references = [str(text) for text in data.references["A"]]
    return gn.TestSet.from_lists(dict(data.systems), references, language_pair="en")


def segment_scores(data: gn.TestSet, name: str, peer: type) -> Row:
    """Sentence scores of all systems from raw text."""
    references = data.references["A"]

    def theirs() -> list[list[float]]:
        metric = peer(effective_order=True) if peer is BLEU else peer()
        return [
            [metric.sentence_score(c, [r]).score for c, r in zip(texts, references, strict=True)]
            for texts in data.systems.values()
        ]

    return compare(
        f"sentence {name}, {len(data.systems)} systems, raw text",
        "sacreBLEU's sentence_score",
        lambda: gn.score(fresh(data), name).segments,
        theirs,
    )


def masked_scores(data: gn.TestSet, spans: SpanTable) -> Row:
    """Oracle and anti-oracle of every feature; the peer skips segments without the feature."""
    batch = data.batch()
    plan = MaskPlan.oracles(spans)
    tokens = tokenise(batch.texts, "13a")
    counts = spans.counts()

    def ours() -> object:
        _, metric = bind(fresh(data), "bleu")
        return metric.masked(batch, plan)

    def theirs() -> object:
        peer = BLEU(effective_order=True, tokenize="none")
        found = np.empty((plan.variants, *batch.shape))
        found[:] = [
            [peer.sentence_score(plain(c), [plain(r)]).score for c, (r,) in pairs(k)]
            for k in range(len(data.systems))
        ]
        for v in range(plan.variants):
            for k in range(len(data.systems)):
                for n, (c, (r,)) in enumerate(pairs(k)):
                    if counts[v // 2, c] or counts[v // 2, r]:
                        left, right = ("MASK=1", "MASK=1") if v % 2 == 0 else ("MASK=2", "MASK=3")
                        score = peer.sentence_score(masked(c, v, left), [masked(r, v, right)])
                        found[v, k, n] = score.score
        return found

    def pairs(k: int) -> list[tuple[int, list[int]]]:
        return [
            (int(c), r.tolist()) for c, r in zip(batch.candidates[k], batch.references, strict=True)
        ]

    def plain(text: int) -> str:
        return " ".join(tokens.strings(text))

    def masked(text: int, variant: int, mask: str) -> str:
        covered = spans.spans(text, spans.features[variant // 2])
        return " ".join(
            mask if any(start < e and s < end for s, e in covered) else word
            for word, (start, end) in zip(tokens.strings(text), tokens.spans(text), strict=True)
        )

    return compare(
        f"MuLER scoring, {len(data.systems)} systems, {len(spans.features)} features",
        "masking and sacreBLEU, segments without the feature skipped",
        ours,
        theirs,
    )


def main() -> None:
    """Measure, print, write the table."""
    data = testset()
    kept = cache.Cache(cache.default_path())
    texts = data.batch().texts
    spans = annotate(texts, ["pos:*"], language="en", cache=kept).spans
    rows = [
        segment_scores(data, "bleu", BLEU),
        segment_scores(data, "chrf", CHRF),
        masked_scores(data, spans),
    ]
    table = [
        "| task | peer | gnomon is faster by |",
        "|---|---|---|",
        *(row.line() for row in rows),
    ]
    note = (
        f"{len(data.systems)} systems x {data.segments} segments of {data.name}; CPU time of one"
        f" thread, medians of {_ROUNDS} interleaved rounds, results equal to 1e-9."
    )
    text = "\n".join([*table, "", note, ""])
    (_ROOT / "benchmarks/RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
