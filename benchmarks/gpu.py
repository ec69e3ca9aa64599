"""BERTScore on a GPU: how busy the encoder keeps the card, and bert-score on the same one.

``python benchmarks/gpu.py [--segments N] [--peak TFLOPS]`` prints the table and writes it to
``benchmarks/gpu.md``; without a GPU it says so and ends well. The model has the shape of
roberta-large and random weights, whose speed is that of trained ones; the data are WMT19 de-en
where the folder named by ``GNOMON_SHARED`` (default ``../shared``) holds them, else the bundled
example. Reported are

- the encoder's forward pass in bf16: tokens per second, padding not counted, and the share of the
  card's dense bf16 peak that their arithmetic makes;
- whole runs, from texts to scores, model at hand: segments (candidates) per second, beside
  bert-score, which is called once per system;
- how far scores on the card are from those on the CPU in fp32.
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import sys
import tempfile
import time
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _measure import keep, wmt

from gnomon.metrics import bind
from gnomon.models import load_encoder

if TYPE_CHECKING:
    from collections.abc import Callable

    import gnomon as gn
    from gnomon.models import Encoder, Pieces

_ROUNDS = 3
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: dense bf16, 1e12 operations per second, from the makers' data sheets
PEAKS = {
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100 NVL": 835.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
}


@dataclass(frozen=True)
class Shape:
    """How large a model is; by default as roberta-large."""

    layers: int = 24
    width: int = 1024
    heads: int = 16
    inner: int = 4096
    vocabulary: int = 50265

    def operations(self, lengths: np.ndarray) -> float:
        """Floating-point operations of texts of so many tokens (products alone, 2 each)."""
        linear = 4 * self.width**2 + 2 * self.width * self.inner
        attention = 2 * self.width * lengths.astype(np.float64) ** 2
        return float(2 * self.layers * (linear * lengths.sum() + attention.sum()))


@dataclass(frozen=True)
class Forward:
    """How fast an encoder was.

    Attributes:
        tokens: per second, padding not counted.
        share: of the card's peak.
    """

    tokens: float
    share: float


def make_model(folder: Path, shape: Shape, texts: list[str]) -> None:
    """Write a BERT with random weights, whose vocabulary holds the words of some texts."""
    import torch
    import transformers

    words = dict.fromkeys(word for text in texts for word in text.lower().split())
    room = shape.vocabulary - len(_SPECIAL)
    vocabulary = [*_SPECIAL, *(w for w in words if w not in _SPECIAL)][: room + len(_SPECIAL)]
    config = transformers.BertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
    )
    torch.manual_seed(1)
    with redirect_stderr(io.StringIO()):  # progress bars
        transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    numbers = {word: number for number, word in enumerate(vocabulary)}
    transformers.BertTokenizerFast(vocab=numbers, model_max_length=512).save_pretrained(folder)


def forward(encoder: Encoder, pieces: Pieces, shape: Shape, peak: float) -> Forward:
    """The encoder's forward pass over all texts.

    Args:
        encoder: at its last layer.
        pieces: of the texts.
        shape: of the model.
        peak: operations per second that the card could do.
    """
    texts = np.flatnonzero(pieces.lengths)
    before = encoder.tokens
    encoder.embed(pieces, texts)  # kernels are chosen, memory is taken
    seconds = _seconds(lambda: encoder.embed(pieces, texts), encoder.device)
    tokens = (encoder.tokens - before) / (1 + _ROUNDS)
    operations = shape.operations(pieces.lengths[texts])
    return Forward(tokens / seconds, operations / seconds / peak)


def ours(data: gn.TestSet, model: Path, layer: int, device: str, precision: str) -> np.ndarray:
    """F of every segment, from texts to scores, with the model at hand; [K, N]."""
    spec = f"bertscore(model={str(model)!r}, layer={layer}, device={device!r}"
    _, bound = bind(data, f"{spec}, precision={precision!r})")
    bound.encoder.memory.clear()  # type: ignore[attr-defined]
    return bound.segments(data.batch())


def peer(data: gn.TestSet, model: Path, layer: int, device: str) -> Callable[[], np.ndarray]:
    """The same by bert-score, called once per system; its model is at hand too."""
    from bert_score import BERTScorer

    references = [text or "" for text in next(iter(data.references.values()))]
    with redirect_stderr(io.StringIO()):
        scorer = BERTScorer(model_type=str(model), num_layers=layer, device=device, nthreads=0)

    def run() -> np.ndarray:
        return np.stack(
            [scorer.score(list(texts), references)[2].numpy() for texts in data.systems.values()]
        )

    return run


def peak_of(name: str) -> float | None:
    """Operations per second that a card could do at most in dense bf16, where known."""
    return next(
        (1e12 * most for card, most in PEAKS.items() if re.search(rf"\b{card}\b", name)), None
    )


def _seconds(run: Callable[[], object], device: str) -> float:
    """Wall-clock seconds, the median of some rounds."""
    seconds = []
    for _ in range(_ROUNDS):
        _wait(device)
        begun = time.perf_counter()
        run()
        _wait(device)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def _wait(device: str) -> None:
    import torch

    if device != "cpu":
        torch.cuda.synchronize(device)


def report(data: gn.TestSet, folder: Path, shape: Shape, device: str, peak: float) -> list[str]:
    """All parts, as lines of a table."""
    texts = list(data.batch().texts)
    make_model(folder, shape, texts)
    encoder = load_encoder(str(folder), device=device, precision="bf16")
    speed = forward(encoder, encoder.pieces(texts), shape, peak)
    segments = data.batch().candidates.size
    last = shape.layers
    seconds = {
        half: _seconds(lambda half=half: ours(data, folder, last, device, half), device)  # type: ignore[misc]
        for half in ("fp32", "bf16")
    }
    theirs = _seconds(peer(data, folder, last, device), device)
    few = _first(data, 20)
    exact = ours(few, folder, last, "cpu", "fp32")
    apart = {
        half: float(np.abs(ours(few, folder, last, device, half) - exact).max())
        for half in ("fp32", "bf16")
    }
    return [
        "| what | figure |",
        "|---|---|",
        f"| encoder, bf16: tokens per second, padding not counted | {speed.tokens:,.0f} |",
        f"| its share of the card's dense bf16 peak ({peak / 1e12:.0f}e12/s) | {speed.share:.0%} |",
        *(
            f"| texts to scores, {half}: segments per second | {segments / spent:,.0f} |"
            for half, spent in seconds.items()
        ),
        *(
            f"| {half}: faster than bert-score 0.3.13 on the same card | {theirs / spent:.1f}x |"
            for half, spent in seconds.items()
        ),
        *(
            f"| {half}: largest difference from the CPU in fp32 | {difference:.1g} |"
            for half, difference in apart.items()
        ),
    ]


def _first(data: gn.TestSet, segments: int) -> Any:
    import gnomon as gn

    return gn.TestSet.from_lists(
        {name: list(texts[:segments]) for name, texts in data.systems.items()},
        [str(text) for text in next(iter(data.references.values()))[:segments]],
        language_pair=data.language_pair,
    )


def main() -> int:
    """Measure and write the table, where there is a GPU."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    reader.add_argument("--segments", type=int, default=1000)
    reader.add_argument("--peak", type=float, help="the card's dense bf16 peak, 1e12 per second")
    given = reader.parse_args()
    import torch

    if not torch.cuda.is_available():
        print("no GPU here: nothing is measured")
        return 0
    card = torch.cuda.get_device_name()
    peak = given.peak * 1e12 if given.peak else peak_of(card)
    if peak is None:
        print(f"the dense bf16 peak of {card} is not known; give it: --peak TFLOPS")
        return 0
    shape = Shape()
    data = wmt("wmt19/de-en", segments=given.segments)
    with tempfile.TemporaryDirectory() as folder:
        lines = report(data, Path(folder), shape, "cuda", peak)
    note = (
        f"{card}; {shape.layers} layers x {shape.width}, random weights; {len(data.systems)}"
        f" systems x {given.segments} segments; wall-clock time, medians of {_ROUNDS}."
    )
    keep("gpu", [*lines, "", note])
    return 0


if __name__ == "__main__":
    sys.exit(main())
