"""What a store holds, as the report of a study shows it: tables, and texts read again.

Texts come from the test sets of the last plan and are shown only where they are those that the
results are of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.study._page_made import made_tables
from gnomon.study._page_sets import StudySet, study_sets
from gnomon.study._page_source import PageSource
from gnomon.study._page_tables import MadeTable, StoredTable, stored_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.cache import Cache
    from gnomon.study._folder import FinishedTask
    from gnomon.study._store import Store


@dataclass(frozen=True)
class StudyPages:
    """A study for :func:`gnomon.report.site.write_site`.

    Attributes:
        title: what it is called.
        facts: what was looked at.
        notices: what a reader should know.
        lower_is_better: metrics that are error rates.
        tables: all tables.
        testsets: all test sets.
    """

    title: str
    facts: Mapping[str, str]
    notices: tuple[str, ...]
    lower_is_better: tuple[str, ...]
    tables: tuple[StoredTable | MadeTable, ...]
    testsets: tuple[StudySet, ...]


def pages(
    store: Store,
    *,
    texts: bool = True,
    spans: bool = True,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> StudyPages:
    """What a store holds, ready to be shown.

    Args:
        store: the results.
        texts: show the texts that they are of.
        spans: mark features in them, with the tagger of the study; from the cache, where it knows
            the texts.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.

    Raises:
        MissingDependencyError: duckdb is not installed.
    """
    source = PageSource.of_store(store)
    sets = study_sets(source, texts=texts, spans=spans, cache=cache, progress=progress)
    stored = [
        stored_table(source, name)
        for name in source.tables
        if name != "segments"  # the test sets hold these
    ]
    return StudyPages(
        title=store.name,
        facts=_facts(sets, source.entries),
        notices=(
            *_undone(len(store.planned()), len(source.entries)),
            *(one.missing for one in sets if texts and one.missing),
            *(notice for one in sets for notice in one.notices),
        ),
        lower_is_better=_lower(source),
        tables=(*stored, *made_tables(source, sets, source.entries)),
        testsets=sets,
    )


def _facts(sets: Sequence[StudySet], entries: Sequence[FinishedTask]) -> dict[str, str]:
    return {
        "test sets": str(len(sets)),
        "systems": str(len({name for one in sets for name in one.systems})),
        "segments": f"{sum(one.segments for one in sets):,}",
        "metrics": ", ".join(dict.fromkeys(metric for e in entries for metric in e.metrics)),
        "methods": ", ".join(dict.fromkeys(entry.method for entry in entries)),
        "tasks": str(len(entries)),
        "computed in": f"{sum(entry.seconds for entry in entries):,.0f} s of one worker",
    }


def _lower(source: PageSource) -> tuple[str, ...]:
    if "scores" not in source.tables:
        return ()
    held = source.rows("scores")
    if "higher_is_better" not in source.columns(held):
        return ()
    asked = f"select distinct metric from {held} where not higher_is_better order by 1"  # noqa: S608  # no input
    return tuple(str(row[0]) for row in source.ask(asked))


def _undone(planned: int, done: int) -> list[str]:
    if done == planned:
        return []
    return [f"{planned - done} of {planned} tasks of the study are not done; run it again"]
