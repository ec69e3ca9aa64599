"""Spans of features in the texts of a report, by the taggers, lists and labels of the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gnomon.annotate import annotate, chosen_features
from gnomon.study._needs import labels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.annotate import Annotation
    from gnomon.cache import Cache
    from gnomon.study._page_marks import Layer, Mark, Stretch
    from gnomon.study._page_source import PageSource
    from gnomon.study._sources import PlannedSet
    from gnomon.study._study import Step


_METHOD = "muler.score"
#: options of a step that say where features come from
_ORIGIN = ("tagger", "lexicon", "pattern")


@dataclass(frozen=True)
class FeatureMarks:
    """Marks the features that MuLER was asked for.

    Attributes:
        layers: a layer for each feature.
        asked: what :func:`annotate` takes, for each step of the study that takes the test set.
        language: of the texts.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.
    """

    layers: tuple[Layer, ...]
    asked: tuple[Mapping[str, Any], ...]
    language: str | None
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    @classmethod
    def of(
        cls,
        source: PageSource,
        planned: PlannedSet,
        *,
        cache: Cache | None,
        progress: Callable[[str, int, int], None] | None,
    ) -> FeatureMarks:
        """For a test set; its features are those of its rows in the table ``muler``.

        Raises:
            GnomonError: labels that the study names cannot be read.
        """
        held = source.rows("muler", testset=planned.name)
        said = f"select distinct feature from {held} order by 1"  # noqa: S608  # no input
        names = [str(row[0]) for row in source.ask(said)]
        pair = planned.sketch.language_pair
        steps = [one for one in source.store.steps() if one.method == _METHOD]
        return cls(
            tuple(("feature", name, None, None) for name in names),
            tuple(_asked(step, planned) for step in steps if step.takes(planned.name)),
            pair.split("-")[-1] if pair else None,
            cache,
            progress,
        )

    def check(self) -> None:
        """Raise what marking would raise: a tagger may be missing here.

        Raises:
            GnomonError: whatever :func:`annotate` raises.
        """
        for one in self.asked:
            if not one.get("labels"):  # they belong to texts
                self._annotated(["."], one)

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        segments = [
            dict.fromkeys((*references.values(), *outputs.values()))
            for references, outputs in zip(stretch.references, stretch.outputs, strict=True)
        ]
        texts = list(dict.fromkeys(text for own in segments for text in own))
        marks = self._marks(texts)
        for i, own in enumerate(segments):
            for text in own:
                for mark in marks.get(text, ()):
                    yield i, text, mark

    def _marks(self, texts: Sequence[str]) -> dict[str, list[Mark]]:
        numbers = {layer[1]: number for number, layer in enumerate(self.layers)}
        found: dict[str, list[Mark]] = {}
        for one in self.asked:
            spans = self._annotated(texts, one).spans
            known = np.array([numbers.get(name, -1) for name in spans.features], dtype=np.int64)
            ends = np.stack([spans.start, spans.end], axis=1)
            group = spans.text.astype(np.int64) * (len(known) + 1) + spans.feature
            starts = np.flatnonzero(np.diff(group, prepend=-1))
            for low, high in zip(starts, [*starts[1:], len(group)], strict=True):
                layer = int(known[spans.feature[low]])
                if layer >= 0:
                    text = texts[int(spans.text[low])]
                    found.setdefault(text, []).append((layer, ends[low:high].ravel().tolist(), ()))
        return found

    def _annotated(self, texts: Sequence[str], asked: Mapping[str, Any]) -> Annotation:
        return annotate(
            texts, language=self.language, cache=self.cache, progress=self.progress, **asked
        )


def _asked(step: Step, planned: PlannedSet) -> dict[str, Any]:
    systems = list(planned.sketch.systems)
    asked: dict[str, Any] = {n: step.options[n] for n in _ORIGIN if n in step.options}
    asked["labels"] = labels_of(step.options, planned.name, systems)
    language = planned.sketch.outline.target_language
    wanted = cast("Sequence[str] | None", step.options.get("features"))
    return {**asked, "features": chosen_features(wanted, **asked, language=language)}
