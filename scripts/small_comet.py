"""Train a small COMET on WMT17 and hold it against people on sets of other years.

``python scripts/small_comet.py DATA FOLDER`` takes test sets in gnomon's layout from DATA (wmt17,
wmt19 and wmt21 as in benchmarks/small-comet.md), trains on the segment scores of WMT17 into FOLDER,
and writes FOLDER.json: agreement with people on the held-out sets beside chrF, BERTScore and
controls, with intervals. Segments of the held-out sets are sampled with a seed. ``--seeds`` trains
a metric for each.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.options import SEED
from gnomon.core.testset import TestSet
from gnomon.learned.comet import BoundComet
from gnomon.learned.encoder import States
from gnomon.learned.metric import input_rows
from gnomon.metaeval.agreement import metaeval
from gnomon.metrics import bind, score
from gnomon.train import metric
from gnomon.train._features import Features, load_base

if TYPE_CHECKING:
    from gnomon.core.scores import Scores

_TRAINED_ON = ("cs-en", "de-en", "fi-en")
_HELD_OUT = ("wmt19/kk-en", "wmt19/lt-en", "wmt21/en-de")
_COLUMNS = ("language_pair", "human", "level", "statistic", "grouping", "metric", "value", "n")


def sampled(path: Path, most: int) -> TestSet:
    """A test set, or so many of the segments that people scored, drawn with the seed."""
    testset = TestSet.read(path)
    if testset.references.keys() > {"A"}:
        testset = testset.select(references=["A"])
    judged = np.ones(testset.segments, dtype=bool)
    if testset.human_kinds("segment"):
        kind = testset.human_kinds("segment")[0]
        judged = np.isfinite(testset.human_scores(kind)).any(axis=0)
        names = [h.systems for h in testset.human if h.kind == kind and h.level == "segment"]
        testset = testset.select(
            systems=[system for system in testset.systems if system in names[0]]
        )
    places = np.flatnonzero(judged)
    chosen = np.random.default_rng(SEED).permutation(places)[:most]
    return testset.select(segments=np.sort(chosen).tolist())


def agreement(
    given: argparse.Namespace, path: Path, folders: list[Path]
) -> list[dict[str, object]]:
    """What people say of metrics on one set, by the statistics that its scores allow."""
    testset = sampled(path, given.segments)
    trained = [scored(given, testset, folder) for folder in folders]
    finding = metaeval(testset, [*trained, *given.beside], resamples=1000)
    ends = ("low", "high")
    return [
        {"set": testset.name, "segments": testset.segments}
        | {name: row.get(name) for name in (*_COLUMNS, *ends)}
        for row in finding.rows
    ]


def scored(given: argparse.Namespace, testset: TestSet, folder: Path) -> Scores:
    """Scores of a metric; texts are encoded once for the metrics of all seeds.

    What the frozen encoder says of a text is kept on disk by layer, and each metric's mix of the
    layers is taken of that.
    """
    spec = f"comet('{folder}', device='cpu')"
    bound = bind(testset, spec)[1]
    if given.embeddings and isinstance(bound, BoundComet):
        import torch

        one_row = np.ones(1, dtype=np.int64)

        base = load_base(given.encoder, "cpu")
        batch = testset.batch()
        texts = sorted(
            {batch.texts[n] for n in np.unique(input_rows(batch, bound.needs).texts) if n >= 0}
        )
        with TemporaryDirectory() as scratch:
            features = Features(base, "avg", "mix", base.encoder.limit)
            layers = features.fill(texts, Path(scratch) / "layers.npy", given.embeddings, None)
            for text, rows in zip(texts, layers, strict=True):
                states = tuple(torch.from_numpy(np.array(row))[None, None] for row in rows)
                whole = States(states, torch.ones(1, 1, dtype=torch.bool), one_row, one_row[None])
                bound.vectors.hold(text, bound.pool(whole).numpy())
    return score(testset, spec)


def train(given: argparse.Namespace, folder: Path, seed: int) -> dict[str, object]:
    """Train one metric, or take the one that is there."""
    if (folder / "config.json").is_file():
        return {"seed": seed}
    begun = time.perf_counter(), time.process_time()
    options = {} if given.learning_rate is None else {"learning_rate": given.learning_rate}
    finding = metric(
        [TestSet.read(given.data / "wmt17" / pair) for pair in _TRAINED_ON],
        save=folder,
        encoder=given.encoder,
        inputs=given.inputs,
        human="da-z",
        embeddings=given.embeddings,
        resume=True,
        device="cpu",
        seed=seed,
        **options,
    )
    spent = {"wall": time.perf_counter() - begun[0], "cpu": time.process_time() - begun[1]}
    held = finding.table("held_out").rows
    return {"seed": seed, "training": finding.rows[0], "held_out": held, "seconds": spent}


def main() -> None:
    """Train, judge, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of test sets")
    parser.add_argument("folder", type=Path, help="the metric; of several seeds FOLDER-SEED")
    parser.add_argument("--encoder", default="minilm", help="folder or name (default: minilm)")
    parser.add_argument("--inputs", default="reference", help="what the metric looks at")
    parser.add_argument("--learning-rate", type=float, help="default: the recipe's")
    parser.add_argument("--seeds", type=int, nargs="+", default=[SEED], help="a metric for each")
    parser.add_argument("--embeddings", help="folder where vectors are kept for other runs")
    parser.add_argument("--segments", type=int, default=400, help="of each held-out set, at most")
    parser.add_argument("--sets", nargs="*", default=_HELD_OUT, help="that are held out")
    parser.add_argument("--beside", nargs="+", default=["chrf", "bertscore(model='minilm')"])
    parser.add_argument("--out", type=Path, help="file of the results (default: FOLDER.json)")
    given = parser.parse_args()
    folder, seeds = given.folder, given.seeds
    many = len(seeds) > 1
    names = [folder.with_name(f"{folder.name}-{one}") if many else folder for one in seeds]
    report: dict[str, object] = {
        "metrics": [train(given, *one) for one in zip(names, seeds, strict=True)]
    }
    rows: list[dict[str, object]] = []
    for name in given.sets:
        rows += agreement(given, given.data / name, names)
        print(name, "done", file=sys.stderr)
    report["agreement"] = rows
    text = json.dumps(report, indent=1, default=str)
    out = given.out or folder.with_suffix(".json")
    out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
