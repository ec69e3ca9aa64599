"""Baselines of BERTScore: what unrelated sentences score, per layer, in bert-score's files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import FormatError, MissingDependencyError
from gnomon.formats import read_text
from gnomon.signature import content_hash

__all__ = ["Baseline", "find_baseline", "read_baseline"]


class Baseline(NamedTuple):
    """Mean precision, recall and F of random pairs of sentences; a score of that much becomes 0.

    Attributes:
        precision: of random pairs.
        recall: of random pairs.
        f: of random pairs.
        identity: name and content hash of the file.
    """

    precision: float
    recall: float
    f: float
    identity: str


def find_baseline(model: str, language: str | None) -> Path:
    """The baseline file of a model and language in the installed package bert-score.

    Raises:
        MissingDependencyError: the package is not installed, or has no such file.
    """
    spec = importlib.util.find_spec("bert_score")
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        path = Path(place) / "rescale_baseline" / (language or "?") / f"{model}.tsv"
        if path.is_file():
            return path
    have = "has none for them" if places else "is not installed"
    raise MissingDependencyError(
        f"rescaling needs a baseline for model {model!r} and language {language or 'unknown'!r};"
        f" the package bert-score, which carries some, {have}; name a file in its format with"
        " baseline='FILE' (LAYER,P,R,F), or leave out rescale"
    )


def read_baseline(path: Path, layer: int) -> Baseline:
    """The baseline of one layer from a file of lines ``LAYER,P,R,F``.

    Raises:
        MissingFileError: there is no such file.
        FormatError: the file is not of that format, or lacks the layer.
    """
    text = read_text(path)
    lines = enumerate(text.replace("\r", "").split("\n"), start=1)
    found = dict(_line(line, path, number) for number, line in lines if number > 1 and line)
    if layer not in found:
        known = ", ".join(map(str, sorted(found))) or "none"
        raise FormatError(f"there is no baseline of layer {layer}; layers: {known}", path=path)
    precision, recall, f = found[layer]
    return Baseline(precision, recall, f, f"{path.name}#{content_hash(text)}")


def _line(line: str, path: Path, number: int) -> tuple[int, tuple[float, float, float]]:
    try:
        layer, precision, recall, f = line.split(",")
        values = float(precision), float(recall), float(f)
        known = int(layer)
    except ValueError:
        values, known = (1.0, 1.0, 1.0), -1
    if not all(-1 <= value < 1 for value in values):
        raise FormatError(
            f"{line!r} is not LAYER,P,R,F with baselines below 1", path=path, line=number
        )
    return known, values
