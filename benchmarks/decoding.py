"""Decoding: constrained beside plain beam search, and plain beam search beside transformers.

``python benchmarks/decoding.py [REFERENCES [PEER_REFERENCES [MODEL]]]`` prints the table and, for
its own model, writes it to ``benchmarks/decoding.md``. The texts are references of WMT19 de-en
where the folder named by ``GNOMON_SHARED`` (default ``../shared``) holds them, else the bundled
example; each gets three constraints of one to three words out of other references, and some of them
three or seven that overlap, each beginning within the one before. The model,
where none is named, is a Marian of two layers, 64 dimensions and random weights, whose speed is
that of trained ones, with the most frequent words as its vocabulary. All sides run in turn in one
process; transformers gets the same batches, and its hypotheses must end at the limit, as they do
here.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _measure import ROOT, ROUNDS, cpu, keep, wmt

from gnomon.models import load_seq2seq
from gnomon.models.decoding import beam, constrained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.models import Seq2Seq

BEAM = 20
LIMIT = 20
WORDS = 4000
BATCH = 16
CHAINS = (3, 7)


def main(count: int, peers: int, folder: str | None) -> None:
    """Measure and write the table."""
    import torch

    torch.set_num_threads(1)
    texts = [str(text) for text in next(iter(wmt("wmt19/de-en").references.values()))]
    frequent = Counter(word for text in texts for word in text.split()).most_common(WORDS)
    words = [word for word, _ in frequent]
    with tempfile.TemporaryDirectory() as scratch:
        model = (
            load_seq2seq(folder, device="cpu") if folder else built(Path(scratch) / "model", words)
        )
    asked = phrases(texts, set(words), count)
    chained = {size: chains(texts, set(words), peers, size) for size in CHAINS}
    plain = partial(beam, model, beam=BEAM, limit=LIMIT)
    sides: dict[str, Callable[[], Any]] = {
        "plain": partial(plain, texts[:count]),
        "constrained": partial(constrained, model, texts[:count], asked, beam=BEAM, limit=LIMIT),
        "exact": partial(plain, texts[:peers]),
        **{
            f"chain {size}": partial(
                constrained, model, texts[:peers], rows, beam=BEAM, limit=LIMIT
            )
            for size, rows in chained.items()
        },
        "never": partial(theirs, model, texts[:peers]),
    }
    middle, results = measured(sides)
    tasks = {"constrained": ("plain", f"{count} references x 3 constraints")}
    for size in CHAINS:
        tasks[f"chain {size}"] = ("exact", f"{peers} references x {size} that overlap")
    lines = [
        f"| constrained, {task} | plain beam search of gnomon |"
        f" {middle[ours] / middle[alone]:.2f}x as long | {met(results[ours]):.1%} of the"
        " constraints are met |"
        for ours, (alone, task) in tasks.items()
    ]
    said = f"the best scores differ by at most {difference(results['exact'], results['never']):.1g}"
    lines.append(
        f"| plain beam, {peers} references | transformers generate, early_stopping=never |"
        f" {middle['exact'] / middle['never']:.2f}x as long | {said} |"
    )
    named = "a trained model" if folder else "random weights"
    note = (
        f"Beam {BEAM}, at most {LIMIT} pieces, {named}, vocabulary of {model.size}, one core, fp32."
        f" Ratios of CPU time, medians of {ROUNDS} interleaved rounds."
    )
    head = ["| task | against | time | |", "|---|---|---|---|"]
    if folder:
        print("\n".join([*head, *lines, "", note]))
    else:
        keep("decoding", [*head, *lines, "", note])


def measured(sides: Mapping[str, Callable[[], Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """Median CPU seconds and results of what is run in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    results: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for name, run in sides.items():
            spent, results[name] = cpu(run)
            seconds[name].append(spent)
    return {name: float(np.median(values)) for name, values in seconds.items()}, results


def built(folder: Path, words: Sequence[str]) -> Seq2Seq:
    """A random model."""
    sys.path.insert(0, str(ROOT))
    from tests.models.tiny_seq2seq import build

    sizes: dict[str, Any] = {"d_model": 64, "encoder_ffn_dim": 256, "decoder_ffn_dim": 256}
    build(folder, words=words, std=0.1, **sizes)
    return load_seq2seq(str(folder), device="cpu")


def phrases(texts: Sequence[str], known: set[str], count: int) -> list[list[str]]:
    """Per text three phrases of one to three known words, each out of another text."""
    random = np.random.default_rng(3)
    rows = []
    for _ in range(count):
        row: list[str] = []
        while len(row) < 3:
            words = texts[int(random.integers(len(texts)))].split()
            first, size = int(random.integers(len(words))), int(random.integers(1, 4))
            some = words[first : first + size]
            if len(some) == size and known.issuperset(some):
                row.append(" ".join(some))
        rows.append(row)
    return rows


def chains(texts: Sequence[str], known: set[str], count: int, size: int) -> list[list[str]]:
    """Per text some phrases of two or three known words, each beginning within the one before."""
    random = np.random.default_rng(5)
    chained: list[list[str]] = []
    while len(chained) < count:
        text = texts[int(random.integers(len(texts)))].split()
        words = [word for word in text if word in known][: size + 2]
        if len(words) == size + 2:
            chained.append([" ".join(words[at : at + 2 + at % 2]) for at in range(size)])
    return chained


def met(found: Sequence[Sequence[Any]]) -> float:
    """The share of the constraints that hypotheses hold."""
    return float(
        np.mean([is_met for row in found for hypothesis in row for is_met in hypothesis.met])
    )


def theirs(model: Seq2Seq, texts: Sequence[str]) -> list[list[float]]:
    """Scores of what ``generate`` finds, with batches of the texts that are next in length."""
    import torch
    from transformers import LogitsProcessor

    class EndsAtLimit(LogitsProcessor):  # type: ignore[misc]  # transformers is untyped
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            scores[:, model.silent_at(input_ids.shape[1] - 1)] = -torch.inf
            if input_ids.shape[1] > LIMIT:
                end = scores[:, model.end].clone()
                scores[:] = -torch.inf
                scores[:, model.end] = end
            return scores

    pieces = model.pieces(texts)
    order = sorted(range(len(texts)), key=lambda number: -len(pieces[number]))
    scored: list[list[float]] = [[] for _ in texts]
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        filled = model.tokenizer.pad({"input_ids": [pieces[n] for n in batch]}, return_tensors="pt")
        with torch.inference_mode():
            scores = model.model.generate(
                filled["input_ids"],
                attention_mask=filled["attention_mask"],
                num_beams=BEAM,
                num_return_sequences=BEAM,
                max_new_tokens=LIMIT + 1,
                do_sample=False,
                length_penalty=1.0,
                early_stopping="never",
                output_scores=True,
                return_dict_in_generate=True,
                logits_processor=[EndsAtLimit()],
            ).sequences_scores
        rows = scores.view(len(batch), -1).tolist()
        for number, row in zip(batch, rows, strict=True):
            scored[number] = row
    return scored


def difference(ours: Sequence[Sequence[Any]], theirs: Sequence[Sequence[float]]) -> float:
    """The largest difference of the best scores."""
    return max(abs(float(one[0].score) - other[0]) for one, other in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 500,
        int(given[1]) if given[1:] else 100,
        given[2] if given[2:] else None,
    )
