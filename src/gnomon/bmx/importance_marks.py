"""Words by their contribution to a score, over the stored results of a study."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gnomon.bmx.pairs import TextWords
from gnomon.core.findings import Column
from gnomon.core.store_views import Layer, StoredView, metric_sql, words_in
from gnomon.metrics.means import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.core.store_views import Mark, SegmentRange, StoredRows

__all__ = ["WORDS_VIEW", "ImportanceMarks", "importance_marks"]


WORDS_VIEW = StoredView(
    "importance_words",
    "Words by what they add to a score",
    ("importance",),
    "select testset, metric, explainer, side, token as word, count(importance) as count,"
    " avg(importance order by segment, system, position) as mean_importance,"
    " min(importance) as lowest, avg(cast(importance < 0 as integer)) as hurts"
    " from importance group by all"
    " order by testset, metric, explainer, mean_importance, side, word",
    (
        Column("testset", "Test set", help="name of the test set"),
        Column("metric", "Metric", help="spec of the metric"),
        Column("explainer", "Explainer", help="how words were weighed"),
        Column("side", "Side", help="candidate or reference"),
        Column("word", "Word", help="as it stands in texts"),
        Column("count", "Count", "count", help="how often it was weighed"),
        Column(
            "mean_importance",
            "Mean importance",
            "number",
            4,
            better="higher",
            help="positive where the word makes outputs look better, in units of the metric",
        ),
        Column("lowest", "Lowest", "number", 4, help="importance where it makes them look worst"),
        Column(
            "hurts", "Hurts", "share", help="share of its occurrences that make the score worse"
        ),
    ),
)


_ENDS = ("makes the output look worse", "better")


def importance_marks(stored: StoredRows) -> ImportanceMarks | None:
    """Marks of the words of the table ``importance``; None where it has no rows."""
    rows = stored.rows("importance")
    if rows is None:
        return None
    by = metric_sql(stored, rows, "explainer")
    tops = stored.query(
        f"select {by} as layer, quantile_cont(abs(importance), 0.98) from {rows}"  # noqa: S608  # no input
        " group by 1 order by 1"
    )
    layers = tuple(
        Layer("values", name, f"importance: {name}", -(top or 1.0), top or 1.0, _ENDS)
        for name, top in tops
    )
    return ImportanceMarks(layers, stored, rows, by)


@dataclass(frozen=True)
class ImportanceMarks:
    """Marks words by what they add to a metric's score.

    In a reference it is the mean over the systems that it is held beside: of several references a
    system is explained beside the one that fits it best.
    """

    layers: tuple[Layer, ...]
    stored: StoredRows
    rows: str
    by: str

    def marks(self, stretch: SegmentRange) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        numbers = {layer.name: number for number, layer in enumerate(self.layers)}
        rows_of_words = self._explanations(stretch)
        for (segment, side, system, name), rows in groupby(rows_of_words, lambda row: row[:4]):
            i, layer = segment - 1 - stretch.first, numbers[name]
            outputs, references = stretch.outputs[i], stretch.references[i]
            texts = [outputs[system]] if side == "candidate" else list(references.values())
            for words, values in _means(row[4:] for row in rows).items():
                text = next((one for one in texts if TextWords(one).words == words), None)
                if text is not None and words:
                    ends = [end for span in words_in(text, words) or () for end in span]
                    yield i, text, (layer, ends, values)

    def _explanations(self, stretch: SegmentRange) -> list[tuple[Any, ...]]:
        """Of each: segment, side, system (not of references), layer, words, values."""
        low, high = stretch.first + 1, stretch.first + len(stretch.outputs)
        return self.stored.query(
            "select segment, side, case when side = 'candidate' then system end as who,"  # noqa: S608  # no input
            f" {self.by} as layer, list(token order by position),"
            f" list(importance order by position) from {self.rows}"
            " where segment between ? and ? and side in ('candidate', 'reference')"
            " group by segment, side, who, layer, system, task order by 1, 2, 3, 4, system, task",
            low,
            high,
        )


def _means(
    words_of_rows: Iterable[tuple[Sequence[str], Sequence[float | None]]],
) -> dict[tuple[str, ...], list[float | None]]:
    """Mean of each word of a text over explanations: systems have references apart."""
    grouped: dict[tuple[str, ...], list[Sequence[float | None]]] = {}
    for words, values in words_of_rows:
        grouped.setdefault(tuple(words), []).append(values)
    return {
        words: [mean(column) for column in zip(*lists, strict=True)]
        for words, lists in grouped.items()
    }
