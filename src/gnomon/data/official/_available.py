"""The test sets that can be fetched, and those that are here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.data.official._folder import ORIGIN
from gnomon.data.official._sacrebleu import datasets
from gnomon.data.official.metrics_eval import NAME, SETS, URL

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Available:
    """A test set that can be fetched.

    Attributes:
        name: what to give to ``gnomon data fetch``.
        publisher: "sacrebleu" or "mt-metrics-eval".
        language_pairs: its pairs; none where only the archive says.
        outputs: outputs of systems come with it.
        urls: the addresses of its files.
        description: a sentence.
        here: language pair -> folder of those that were fetched.
    """

    name: str
    publisher: str
    language_pairs: tuple[str, ...]
    outputs: bool
    urls: tuple[str, ...]
    description: str
    here: dict[str, Path]


def listed(home: Path) -> tuple[Available, ...]:
    """The sets that sacreBLEU knows and those of mt-metrics-eval; nothing is fetched."""
    sacrebleu_sets = [
        _describe_sacrebleu_set(name, dataset, home) for name, dataset in datasets().items()
    ]
    return (*sacrebleu_sets, *(_describe_metrics_eval_set(name, home) for name in SETS))


def _describe_sacrebleu_set(name: str, dataset: Any, home: Path) -> Available:
    folders = {pair: home / name / pair for pair in dataset.langpairs}
    return Available(
        name=name,
        publisher="sacrebleu",
        language_pairs=tuple(dataset.langpairs),
        outputs=any("-systems" in url for url in dataset.data),
        urls=tuple(dataset.data),
        description=str(dataset.description or ""),
        here={pair: folder for pair, folder in folders.items() if (folder / ORIGIN).is_file()},
    )


def _describe_metrics_eval_set(name: str, home: Path) -> Available:
    from gnomon.data.formats import language_pairs

    folder = home / NAME / name
    pairs = language_pairs(folder) if (folder / ORIGIN).is_file() else ()
    return Available(
        name=f"{NAME}/{name}",
        publisher=NAME,
        language_pairs=pairs,
        outputs=True,
        urls=(URL,),
        description="Outputs, references, human scores and scores of metrics of the metrics task.",
        here={pair: folder / pair for pair in pairs},
    )
