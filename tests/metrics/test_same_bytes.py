"""A request gives the same bytes whatever its process did before."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: scores a small test set, plain and masked, and prints the bits; with "after", when much was done
_PROGRAM = """
import sys
import numpy as np
import gnomon as gn
from gnomon.metrics import MaskPlan, bind
from gnomon.core.spans import SpanTable

METRICS = [
    "bleu", "bleu(smooth_method='floor')", "bleu(smooth_method='add-k', max_ngram_order=2)",
    "bleu(variant='authors')", "chrf", "chrf++", "ter", "rouge1", "rouge2", "rougeL",
]
draw = np.random.default_rng(7)
words = "the a cat dog sat ran on under mat house . , ! 3.5 don't old-fashioned".split()
texts = [" ".join(draw.choice(words, size)) for size in draw.integers(1, 25, 600)]
if sys.argv[1] == "after":
    many = [f"{number} {text}" for number, text in enumerate(texts * 30)]
    references = [[text] for text in many[1:] + many[:1]]
    for metric in ("bleu", "chrf", "rougeL", "ter"):
        gn.score(gn.TestSet.from_lists({"a": many}, references), metric)
testset = gn.TestSet.from_lists(
    {"a": texts[:80], "b": texts[80:160]}, [[text] for text in texts[160:240]]
)
batch = testset.batch()
first_words = [{"first": [(0, len(text.split()[0]))]} for text in batch.texts]
plan = MaskPlan.oracles(SpanTable.build(first_words, ["first"]))
for spec in METRICS:
    scores = gn.score(testset, spec)
    print(spec, scores.segments.tobytes().hex(), scores.system.tobytes().hex())
    _, bound = bind(testset, spec)
    if "mask" in bound.can:
        print(spec, "masked", bound.masked(batch, plan).tobytes().hex())
"""


@pytest.mark.verify
def test_scores_are_the_same_bytes_in_a_fresh_process_and_after_heavy_work() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, when], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for when in ("fresh", "after")
    ]
    assert len(outputs[0]) > 15
    for fresh, after in zip(*outputs, strict=True):
        assert fresh == after, f"{fresh.split()[0]} has other digits after heavy work"
