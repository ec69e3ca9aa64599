"""The questions that ``gnomon demo`` asks of its study, in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.findings import Finding
    from gnomon.study import Store

__all__ = ["ANSWERS", "DemoAnswer"]


@dataclass(frozen=True)
class DemoAnswer:
    """A question and how to ask it.

    Attributes:
        title: the question.
        tables: the tables of the store that it needs.
        sql: how ``gnomon query`` asks it.
        note: what a reader should know.
    """

    title: str
    tables: tuple[str, ...]
    sql: str
    note: str = ""

    def finding(self, store: Store) -> Finding:
        """The answer of a store, as a table."""
        from gnomon.findings import Column, Finding, Table

        found = store.query(self.sql)
        columns = tuple(
            Column(name, name, kind) for name, kind in zip(found.columns, found.kinds, strict=True)
        )
        rows = tuple(dict(zip(found.columns, row, strict=True)) for row in found.rows)
        table = Table("answer", self.title, columns, rows, note=self.note)
        return Finding("query", self.title, (table,), signatures={})


ANSWERS = (
    DemoAnswer(
        "Which system scores best?",
        ("scores",),
        """
        pivot (
          select system, regexp_extract(metric, '^\\w+') as metric, score from scores
          where testset = 'apertium/es-en'
        ) on metric using first(score) order by bleu desc
        """,
    ),
    DemoAnswer(
        "What does BLEU charge each part of speech for?",
        ("muler",),
        """
        select feature, avg(muler) as muler, min(muler) as best, max(muler) as worst,
          arg_max(system, muler) as worst_system
        from muler
        where metric = 'bleu' and variant = 'ratio' and feature like 'pos:%' and segments >= 5
        group by feature order by muler desc limit 8
        """,
        "MuLER: 0 where nothing is lost on the feature, 1 where all is; means of all systems.",
    ),
    DemoAnswer(
        "Which words were hard for all of them?",
        ("difficulty_words",),
        "select word, difficulty, count from difficulty_words order by difficulty desc limit 8",
        "1 minus the mean similarity of the best matches in the systems' outputs.",
    ),
    DemoAnswer(
        "Which words of the outputs lower chrF?",
        ("importance",),
        """
        select token, count(*) as count, avg(importance) as importance
        from importance where metric = 'chrf' and side = 'candidate' and length(token) > 1
        group by token having count(*) >= 10 order by importance limit 8
        """,
        "Points of chrF that its segment loses without the word; negative: it gains.",
    ),
    DemoAnswer(
        "What do paraphrased references bring?",
        ("paraphrase_gain",),
        """
        select metric, method, n, base_score as reference_alone, score as with_paraphrases,
          diversity
        from paraphrase_gain order by metric, n
        """,
        "Means of all systems. The bundled paraphrases are round trips by the engine that made the"
        " outputs: scores rise for errors that both share, too; people's judgements, which this"
        " example lacks, tell what paraphrases are worth.",
    ),
)
