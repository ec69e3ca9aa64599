"""Cautions that a study has once for each metric, as one sentence that names all of these."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.verdicts import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.findings import Level

__all__ = ["VerdictSentence", "said_once"]

#: cautions of MuLER about one metric
_OUTSIDE = re.compile(
    r"(?P<head>.*left out) under (?P<metric>.+?), because (?P<why>.+?): (?P<features>.+)"
    r" \((?P<end>MuLER outside 0 to 1[^()]*)\)\."
)
_LACKING = re.compile(r"(?P<what>.+; MuLER compares only .+? the feature) \((?P<scores>.+)\)\.")


@dataclass(frozen=True)
class VerdictSentence:
    """A sentence of a verdict."""

    text: str
    level: Level
    claim: str = ""


def said_once(sentences: Sequence[VerdictSentence]) -> tuple[VerdictSentence, ...]:
    """Sentences, of which those that differ in their metric alone stand once, the last of them.

    >>> said = [
    ...     "Caution: left out under BLEU, because BLEU is low: nouns (n) (MuLER outside 0 to 1).",
    ...     "Caution: left out under chrF, because chrF is low: verbs (v) (MuLER outside 0 to 1).",
    ... ]
    >>> (once,) = said_once([VerdictSentence(text, "caution") for text in said])
    >>> once.text.removeprefix("Caution: left out, because the metric is low: ")
    'nouns (n) under BLEU; verbs (v) under chrF (MuLER outside 0 to 1).'
    """
    groups: dict[tuple[str, ...], list[re.Match[str]]] = {}
    keys: list[tuple[str, ...] | None] = []
    for sentence in sentences:
        key: tuple[str, ...] | None = None
        if match := _OUTSIDE.fullmatch(sentence.text):
            why = re.sub(rf"(?<!\w){re.escape(match['metric'])}(?!\w)", "the metric", match["why"])
            key = (sentence.claim, why, match["end"])
        elif match := _LACKING.fullmatch(sentence.text):
            key = (sentence.claim, match["what"])
        if key and match:
            groups.setdefault(key, []).append(match)
        keys.append(key)
    made = []
    for n, (sentence, key) in enumerate(zip(sentences, keys, strict=True)):
        if key is None or len(groups[key]) == 1:
            made.append(sentence)
        elif key not in keys[n + 1 :]:
            made.append(
                VerdictSentence(_together(groups[key], key), sentence.level, sentence.claim)
            )
    return tuple(made)


def _together(matches: Sequence[re.Match[str]], key: tuple[str, ...]) -> str:
    if matches[0].re is _LACKING:
        return f"{matches[0]['what']} ({'; '.join(match['scores'] for match in matches)})."
    head, end = matches[0]["head"], matches[0]["end"]
    features = {match["features"] for match in matches}
    if len(features) == 1:
        metrics = listed([match["metric"] for match in matches])
        return f"{head} under {metrics}, because {key[1]}: {features.pop()} ({end})."
    each = "; ".join(f"{match['features']} under {match['metric']}" for match in matches)
    return f"{head}, because {key[1]}: {each} ({end})."
