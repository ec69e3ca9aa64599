"""Baselines of BERTScore: what unrelated sentences score, published or estimated.

Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT", section 4, rescale by the
mean score of random pairs of sentences, (x - b) / (1 - b). The package bert-score carries such
baselines for usual models. Of other models they are estimated in the same way: from sentences that
are paired at random.
"""

from __future__ import annotations

import importlib.util
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.cache import Cache, key
from gnomon.core.errors import DataError, FormatError, MissingDependencyError, OutputError
from gnomon.core.options import SEED
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_text
from gnomon.metrics.comparisons import pair_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.embeddings import Matcher

__all__ = [
    "Baseline",
    "estimate_baseline",
    "find_baseline",
    "random_pairs",
    "read_baseline",
]

#: pairs of sentences from which a baseline is estimated, where there are enough sentences
PAIRS = 2000
_log = logging.getLogger(__name__)


class Baseline(NamedTuple):
    """Mean precision, recall and F of random pairs of sentences; a score of that much becomes 0."""

    precision: float
    recall: float
    f: float
    identity: str  # name and content hash of the file, or what it was estimated from


# Baselines in files


def find_baseline(model: str, language: str | None) -> Path:
    """The baseline file of a model and language, of the package bert-score."""
    spec = importlib.util.find_spec("bert_score")
    packages = list(spec.submodule_search_locations or ()) if spec else []
    places = [Path(p) / "rescale_baseline" / (language or "?") / f"{model}.tsv" for p in packages]
    for path in places:
        if path.is_file():
            return path
    have = "has none for them" if packages else "is not installed"
    raise MissingDependencyError(
        f"rescaling needs a baseline for model {model!r} and language {language or 'unknown'!r};"
        f" the package bert-score, which carries some, {have}; estimate one from shuffled"
        " references (rescale='estimate'), or name a file in its format with baseline='FILE'"
        " (LAYER,P,R,F)"
    )


def read_baseline(path: Path, layer: int) -> Baseline:
    """The baseline of one layer from a file of lines ``LAYER,P,R,F``."""
    text = read_text(path)
    lines = enumerate(text.replace("\r", "").split("\n"), start=1)
    baselines = dict(_line(line, path, number) for number, line in lines if number > 1 and line)
    if layer not in baselines:
        layers = ", ".join(map(str, sorted(baselines))) or "none"
        raise FormatError(f"there is no baseline of layer {layer}; layers: {layers}", path=path)
    precision, recall, f = baselines[layer]
    return Baseline(precision, recall, f, f"{path.name}#{content_hash(text)}")


def _line(line: str, path: Path, number: int) -> tuple[int, tuple[float, float, float]]:
    try:
        layer, precision, recall, f = line.split(",")
        values = float(precision), float(recall), float(f)
        index = int(layer)
    except ValueError:
        values, index = (1.0, 1.0, 1.0), -1
    if not all(-1 <= value < 1 for value in values):
        raise FormatError(
            f"{line!r} is not LAYER,P,R,F with baselines below 1", path=path, line=number
        )
    return index, values


# Baselines of a test set's own references


def estimate_baseline(
    matcher: Matcher, sides: Sequence[tuple[str, str]], weights: str = ""
) -> Baseline:
    """The baseline of a model on sentences of a test set, kept in gnomon's cache folder."""
    pairs = random_pairs(sides, SEED)
    encoder = matcher.encoder
    run = (encoder.identity, str(encoder.layer), encoder.precision, encoder.device.split(":")[0])
    rest = (str(encoder.limit), encoder.long, matcher.special, weights, json.dumps(pairs))
    name = key("baseline", *run, *rest)
    means = encoder.memory.get(f"baseline {name.hex()}")
    if means is None:
        means = _cached_baseline(name) or _means(matcher, pairs).tolist()
        encoder.memory[f"baseline {name.hex()}"] = means
        _keep(name, means)
    identity = f"{len(pairs)}-shuffled-pairs,seed-{SEED}#{content_hash(json.dumps(pairs))}"
    precision, recall, f = means
    return Baseline(precision, recall, f, identity)


def random_pairs(sides: Sequence[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """Pairs of texts of different segments, 2,000 or as many as there are.

    The segments are shuffled into a ring; each is paired with the next one, then, if these pairs
    are too few, with the next but one, and so on: no pair occurs twice, and all texts as often.
    """
    distinct = list(dict.fromkeys((a, b) for a, b in sides if a.strip() and b.strip()))
    size = len(distinct)
    ring = [distinct[n] for n in np.random.default_rng(seed).permutation(size).tolist()]
    pairs: list[tuple[str, str]] = []
    for step in range(1, size):
        more = ((ring[n][0], ring[(n + step) % size][1]) for n in range(size))
        pairs += [(a, b) for a, b in more if a != b]
        if len(pairs) >= PAIRS:
            break
    if not pairs:
        raise DataError(
            f"a baseline is estimated from sentences that are paired at random; {size} different"
            " one(s) are too few: name a file with baseline='FILE', or do not rescale"
        )
    return pairs[:PAIRS]


def _means(matcher: Matcher, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Mean precision, recall and F, float64 [3]."""
    from gnomon.core.batch import Batch

    candidates, references = zip(*pairs, strict=True)
    batch = Batch.build(systems={"shuffled": candidates}, references=[references])
    matches = matcher.matches(batch, pair_rows(batch))
    means: NDArray[np.float64] = np.array(
        [values[matches.pair].mean() for values in matches.compute_parts()]
    )
    return means


def _cached_baseline(name: bytes) -> list[float] | None:
    try:
        with Cache() as cache:
            data = cache.get_many([name]).get(name)
    except OutputError as error:
        _log.debug("no baseline is read from the cache: %s", error)
        return None
    return None if data is None else [float(value) for value in json.loads(data)]


def _keep(name: bytes, values: Sequence[float]) -> None:
    try:
        with Cache() as cache:
            cache.put_many({name: json.dumps(list(values)).encode()})
    except OutputError as error:
        _log.debug("the baseline is not kept: %s", error)
