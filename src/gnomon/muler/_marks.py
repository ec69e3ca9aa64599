"""Marks of features in the texts of a study, and its features over all systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Column
from gnomon.core.store_views import Layer, StoredView
from gnomon.linguistics import annotate, read_labels, select_features
from gnomon.linguistics.forms import BY_REFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.store_views import Mark, SegmentRange, StoredRows
    from gnomon.linguistics import Annotation

#: options that say where features come from
_ORIGIN = ("tagger", "lexicon", "pattern", "labels")

FEATURES_VIEW = StoredView(
    "muler_features",
    "Features over all systems",
    ("muler",),
    "select m.testset, m.metric, m.variant, m.slice, m.feature, count(m.muler) as systems,"
    " avg(m.segments order by m.system) as segments, avg(m.muler order by m.system) as mean,"
    " min(m.muler) as lowest, arg_min(m.system, m.muler order by m.system) as best_system,"
    " max(m.muler) as highest, arg_max(m.system, m.muler order by m.system) as worst_system,"
    " t.options"
    " from muler m left join tasks t on t.key = m.task group by all order by all",
    (
        Column("testset", "Test set", help="name of the test set"),
        Column("metric", "Metric", help="spec of the metric"),
        Column("variant", "Variant", help="of MuLER"),
        Column("slice", "Slice", help="of the segments; empty for all"),
        Column("feature", "Feature", help="as MuLER names it"),
        Column("systems", "Systems", "count", help="how many have a defined MuLER"),
        Column(
            "segments",
            "Segments",
            "number",
            1,
            help="mean number of segments with the feature on both sides",
        ),
        Column("mean", "Mean", "number", better="lower", help="of the systems' MuLER"),
        Column("lowest", "Lowest", "number", better="lower", help="MuLER of the best system"),
        Column("best_system", "Best system", help="the system with the lowest MuLER"),
        Column("highest", "Highest", "number", better="lower", help="MuLER of the worst system"),
        Column("worst_system", "Worst system", help="the system with the highest MuLER"),
        Column(
            "options",
            "Options",
            help="of the step of the study, JSON; steps with others have rows of their own",
        ),
    ),
)


def feature_marks(stored: StoredRows) -> FeatureMarks | None:
    """Feature marks of the table ``muler``; None where it has no rows."""
    rows = stored.rows("muler")
    if rows is None:
        return None
    features = stored.query(f"select distinct feature from {rows} order by 1")  # noqa: S608  # no input
    names = [str(row[0]) for row in features if row[0] not in BY_REFERENCES]
    asked = []
    for options in stored.options:
        origin = {name: options[name] for name in _ORIGIN if name in options}
        origin["labels"] = read_labels(origin.get("labels"))
        wanted = select_features(options.get("features"), **origin, language=stored.language)
        asked.append({**origin, "features": wanted})
    marks = FeatureMarks(tuple(Layer("spans", name, name) for name in names), asked, stored)
    marks.check()
    return marks


@dataclass(frozen=True)
class FeatureMarks:
    """Marks the features that MuLER was asked for."""

    layers: tuple[Layer, ...]
    asked: Sequence[Mapping[str, Any]]  # by step of the study, as :func:`annotate` takes it
    stored: StoredRows

    def check(self) -> None:
        """Raise what marking would raise."""
        for options in self.asked:
            if not options.get("labels"):  # they belong to texts
                self._annotated(["."], options)

    def marks(self, stretch: SegmentRange) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        segments = [
            dict.fromkeys((*references.values(), *outputs.values()))
            for references, outputs in zip(stretch.references, stretch.outputs, strict=True)
        ]
        texts = list(dict.fromkeys(text for segment_texts in segments for text in segment_texts))
        marks = self._marks(texts)
        for i, segment_texts in enumerate(segments):
            for text in segment_texts:
                for mark in marks.get(text, ()):
                    yield i, text, mark

    def _marks(self, texts: Sequence[str]) -> dict[str, list[Mark]]:
        numbers = {layer.name: number for number, layer in enumerate(self.layers)}
        marks: dict[str, list[Mark]] = {}
        for options in self.asked:
            spans = self._annotated(texts, options).spans
            layers = np.array([numbers.get(name, -1) for name in spans.features], dtype=np.int64)
            ends = np.stack([spans.start, spans.end], axis=1)
            group = spans.text.astype(np.int64) * (len(layers) + 1) + spans.feature
            starts = np.flatnonzero(np.diff(group, prepend=-1))
            for low, high in zip(starts, [*starts[1:], len(group)], strict=True):
                layer = int(layers[spans.feature[low]])
                if layer >= 0:
                    text = texts[int(spans.text[low])]
                    marks.setdefault(text, []).append((layer, ends[low:high].ravel().tolist(), ()))
        return marks

    def _annotated(self, texts: Sequence[str], options: Mapping[str, Any]) -> Annotation:
        stored = self.stored
        return annotate(
            texts,
            language=stored.language,
            cache=stored.cache,
            progress=stored.progress,
            **options,
        )
