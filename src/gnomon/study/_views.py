"""What can be asked beside the tables of methods: tables of the store itself, and views."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.findings import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.findings import Kind
    from gnomon.study._held import Held
    from gnomon.study._manifest import Entry

__all__ = ["OWN_TABLES", "SQL_TYPES", "TASK", "View", "meanings_of", "views"]

#: tables of the store itself; see :data:`SQL_TYPES`
OWN_TABLES: Mapping[str, tuple[Column, ...]] = {
    "tasks": (
        Column("key", "Key", help="of the task; column task of the other tables"),
        Column("method", "Method", help="as in the study"),
        Column("testset", "Test set", help="name of the test set"),
        Column("metrics", "Metrics", help="specs"),
        Column("systems", "Systems", "count", help="how many it looked at"),
        Column("options", "Options", help="of the method, JSON"),
        Column("seconds", "Seconds", "number", help="wall clock of one worker"),
        Column("finished", "Finished", help="when, UTC"),
        Column("gnomon", "gnomon", help="version"),
        Column(
            "made_with",
            "Made with",
            help="packages, models, taggers and files, with versions or hashes",
        ),
        Column("signatures", "Signatures", help="how to make its numbers again"),
        Column("notices", "Notices", help="what a reader should know"),
    ),
    "testsets": (
        Column("testset", "Test set", help="name of the test set"),
        Column("language_pair", "Language pair", help="of the test set"),
        Column("segments", "Segments", "count", help="how many the study takes"),
        Column("systems", "Systems", "count", help="how many the study takes"),
        Column("references", "References", help="names of the references"),
        Column("judged", "Judged", "truth", help="people said something of it"),
        Column("path", "Path", help="where it was read"),
    ),
}
SQL_TYPES: Mapping[Kind, str] = {
    "text": "VARCHAR", "truth": "BOOLEAN", "count": "BIGINT", "number": "DOUBLE", "share": "DOUBLE"
}  # fmt: skip
#: in all tables of tasks
TASK = Column("task", "Task", help="key of the task that gave the row; see tasks")


class View(NamedTuple):
    """A question that many ask, as a table.

    Attributes:
        name: in queries.
        of: the tables that it takes.
        sql: the query.
        meanings: of its columns.
    """

    name: str
    of: tuple[str, ...]
    sql: str
    meanings: Mapping[str, str]


_SET, _METRIC, _SYSTEM = "name of the test set", "spec of the metric", "name of the system"
_VIEWS = (
    View(
        "leaderboard",
        ("scores",),
        "select testset, metric, rank() over (partition by testset, metric order by"
        " if(higher_is_better, score, -score) desc nulls last) as rank, system, score"
        " from scores order by testset, metric, rank, system",
        {
            "testset": _SET,
            "metric": _METRIC,
            "rank": "1 is best; error rates are turned",
            "system": _SYSTEM,
            "score": "corpus score",
        },
    ),
    View(
        "standings",
        ("scores",),
        "with ranked as (select metric, system, score, rank() over (partition by testset, metric"
        " order by if(higher_is_better, score, -score) desc) as rank from scores"
        " where score is not null)"
        " select metric, system, count(*) as testsets, avg(score) as mean_score, avg(rank) as"
        " mean_rank from ranked group by metric, system order by metric, mean_rank, system",
        {
            "metric": _METRIC,
            "system": _SYSTEM,
            "testsets": "in which the system has a score; means over others do not compare",
            "mean_score": "of the corpus scores on these test sets",
            "mean_rank": "of the ranks on these test sets; 1 is best, error rates are turned",
        },
    ),
    View(
        "disagreements",
        ("scores",),
        "with turned as (select testset, metric, system, if(higher_is_better, score, -score) as"
        " score from scores), pairs as (select a.testset, a.metric, a.system, b.system as rival,"
        " a.score - b.score as difference from turned a join turned b using (testset, metric)"
        " where a.score > b.score) select p.testset, p.metric, q.metric as other, p.system,"
        " p.rival, p.difference, -q.difference as other_difference from pairs p join pairs q on"
        " p.testset = q.testset and p.system = q.rival and p.rival = q.system"
        " where p.metric <> q.metric",
        {
            "testset": _SET,
            "metric": "spec of a metric",
            "other": "spec of another one, which orders the two systems the other way round",
            "system": "the better system by the metric, the worse by the other",
            "rival": "the worse system by the metric, the better by the other",
            "difference": "of the metric's scores, system less rival; positive is better",
            "other_difference": "of the other's scores, system less rival; negative is worse",
        },
    ),
    View(
        "muler_features",
        ("muler",),
        "select m.testset, m.metric, m.variant, m.slice, m.feature, count(m.muler) as systems,"
        " avg(m.segments) as segments, avg(m.muler) as mean, min(m.muler) as lowest,"
        " arg_min(m.system, m.muler) as best_system, max(m.muler) as highest,"
        " arg_max(m.system, m.muler) as worst_system, t.options"
        " from muler m left join tasks t on t.key = m.task group by all order by all",
        {
            "testset": _SET,
            "metric": _METRIC,
            "variant": "of MuLER",
            "slice": "of the segments; empty for all",
            "feature": "as MuLER names it",
            "systems": "how many have a defined MuLER",
            "segments": "mean number of segments with the feature on both sides",
            "mean": "of the systems' MuLER",
            "lowest": "MuLER of the best system",
            "best_system": "the system with the lowest MuLER",
            "highest": "MuLER of the worst system",
            "worst_system": "the system with the highest MuLER",
            "options": "of the step of the study, JSON; steps with others have rows of their own",
        },
    ),
    View(
        "best_metrics",
        ("agreement",),
        'select testset, level, statistic, "grouping", subset, human, rank() over (partition by'
        ' task, testset, level, statistic, "grouping", subset, human order by value desc nulls'
        " last) as rank, metric, value, low, high, n from agreement"
        " where not coalesce(control, false) order by all",
        {
            "testset": _SET,
            "level": "system or segment",
            "statistic": "of agreement",
            "grouping": "of segments",
            "subset": "of systems",
            "human": "kind of human scores",
            "rank": "of the metric, by the value, within a step of the study; 1 agrees best",
            "metric": _METRIC,
            "value": "of the statistic",
            "low": "lower end of its interval",
            "high": "upper end of its interval",
            "n": "systems or pairs that it is of",
        },
    ),
    View(
        "costs",
        (),
        "select method, metrics, count(*) as tasks, sum(seconds) as seconds,"
        " max(seconds) as longest from tasks group by all order by seconds desc",
        {
            "method": "as in the study",
            "metrics": "specs",
            "tasks": "how many",
            "seconds": "of one worker, all of them",
            "longest": "seconds of the longest",
        },
    ),
)


def views(store: Held) -> list[View]:
    """The views that a store has the tables for, with the columns that they take."""
    there = store.files().keys()
    found = [view for view in _VIEWS if there >= set(view.of)]
    return [*found, _wide(store), _by_testset(store)] if "scores" in there else found


def meanings_of(store: Held, table: str) -> dict[str, str]:
    """What the columns of a table or view mean."""
    for view in views(store):
        if view.name == table:
            return dict(view.meanings)
    columns = OWN_TABLES.get(table) or (*store.schema(table).columns, TASK)
    return {column.name: column.help or column.title for column in columns}


def _wide(store: Held) -> View:
    """A column for each metric."""
    metrics = [name for one in _scorings(store) for name in one.signatures]
    return _pivot(
        "scores_wide",
        ("testset", "system"),
        "metric",
        metrics,
        {
            "testset": _SET,
            "system": _SYSTEM,
            **{name: f"corpus score under {name}" for name in metrics},
        },
    )


def _by_testset(store: Held) -> View:
    """A column for each test set."""
    sets = [one.testset for one in _scorings(store)]
    return _pivot(
        "scores_by_testset",
        ("metric", "system"),
        "testset",
        sets,
        {
            "metric": _METRIC,
            "system": _SYSTEM,
            **{name: f"corpus score on {name}" for name in sets},
        },
    )


def _scorings(store: Held) -> list[Entry]:
    done = (store.entries[key] for key in store.planned() if key in store.entries)
    return [one for one in done if one.method == "score"]


def _pivot(
    name: str, rows: tuple[str, ...], column: str, found: Iterable[str], meanings: Mapping[str, str]
) -> View:
    """Scores with a column for each of the values of another column.

    SQL does not tell small letters from capitals in names: of such values the first has a column.
    """
    values: dict[str, str] = {}
    for value in found:
        if value.lower() not in rows:
            values.setdefault(value.lower(), value)
    columns = [
        f"max(score) filter (where {column} = {_text(value)}) as {_name(value)}"
        for value in values.values()
    ]
    chosen = ", ".join([*rows, *columns])
    sql = f"select {chosen} from scores group by all order by all"  # noqa: S608  # names are quoted
    return View(name, ("scores",), sql, meanings)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
