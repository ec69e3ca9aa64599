"""Results as JSON, TSV, LaTeX and Markdown, for programs and papers."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Bars, Column, Finding, ScoreTable, Table
from gnomon.core.lazy import checked
from gnomon.core.signature import Signature, version
from gnomon.core.tabular import (
    finding_to_latex,
    finding_to_markdown,
    score_signatures,
    scores_grid,
    to_markdown,
    to_tsv,
    tsv_lines,
    verdict_to_markdown,
)
from gnomon.core.verdicts import metric_title, summarise_scores
from gnomon.messages import rendered
from gnomon.messages.audiences import Written, remedies
from gnomon.messages.grammar import counted
from gnomon.report.terminal import print_finding, print_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gnomon.core.findings import Cell
    from gnomon.core.scores import Scores
    from gnomon.messages import Message
    from gnomon.messages.audiences import Audience

__all__ = [
    "Format",
    "envelope",
    "render",
    "render_rows",
    "render_segments",
    "scores_finding",
    "scores_table",
]

Better: TypeAlias = Literal["higher", "lower"]
Format: TypeAlias = Literal["text", "json", "tsv", "latex", "markdown"]


@checked
def render(
    what: Finding | Sequence[Scores],
    format: str,  # noqa: A002  # the option's name on the command line
    *,
    command: str = "score",
    digits: int | None = None,
    width: int | None = None,
    most: int | None = None,
    every: bool = False,
    verbose: bool = False,
) -> str:
    """A finding, or the scores of some metrics, in one of the output formats.

    Args:
        what: a finding (its ``method`` names the command), or one :class:`Scores` per metric.
        format: "text", "json", "tsv", "latex" or "markdown"; JSON and TSV hold the records of the
            contract, unrounded, JSON those of further tables too; the others show the
            views of :meth:`Finding.shown`.
        command: the command's name in JSON, for scores.
        digits: digits after the point, for people.
        width: text only: characters per line.
        most: text of findings only: rows of a table; see :func:`print_finding`.
        every: LaTeX of findings only: see :meth:`gnomon.Finding.to_latex`.
        verbose: text only: list notes, which are counted otherwise.

    Raises:
        UnknownNameError: there is no such format.
    """
    if format not in get_args(Format):
        raise UnknownNameError("output format", format, get_args(Format))
    shown = {"digits": digits, "width": width, "verbose": verbose}
    if isinstance(what, Finding):
        if format == "text":
            return _printed(print_finding, what, **shown, most=most)
        return _finding(what, format, digits, every=every)
    if format == "text":
        return _printed(print_scores, what, **shown)
    return _scores(what, format, command, digits)


def render_segments(
    scores: Sequence[Scores],
    format: str,  # noqa: A002  # the option's name on the command line
    *,
    command: str = "score",
    digits: int | None = None,
    width: int | None = None,
) -> str:
    """Segment scores in one of the output formats: ``system, segment, metric, score``.

    Options as for :func:`render`; for people, one row per system and segment, one column per
    metric.

    Raises:
        UnknownNameError: there is no such format.
    """
    wide = format not in {"json", "tsv"}
    finding = (
        segments_finding(scores, digits)
        if wide
        else _segment_finding(scores, segments_table(scores))
    )
    return render(replace(finding, method=command), format, digits=digits, width=width)


def segments_finding(scores: Sequence[Scores], digits: int | None = None) -> Finding:
    """Segment scores side by side, a column for each metric."""
    return _segment_finding(scores, _segments_side_by_side(scores, digits))


def _segment_finding(scores: Sequence[Scores], table: Table) -> Finding:
    signatures, notices = score_signatures(scores), _notices(scores)
    return Finding("score", table.title, (table,), signatures, notices=notices)


def render_rows(
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Cell]],
    format: Literal["json", "tsv"],  # noqa: A002  # the option's name on the command line
    *,
    command: str,
) -> Iterator[str]:
    """Parts of what :func:`render` gives for a table; rows are read as the parts are, and let go.

    Args:
        columns: the columns, in order.
        rows: a mapping per row, as many as there may be.
        format: one that takes its rows one by one.
        command: the command's name in JSON.
    """
    if format == "tsv":
        return tsv_lines(columns, rows)
    return _envelope(command, rows, {})


def envelope(
    command: str,
    rows: Sequence[Mapping[str, Any]],
    signatures: Mapping[str, Signature],
    tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    notices: Sequence[Message] = (),
    verdict: Sequence[Message] = (),
) -> str:
    """The JSON object that every command prints: ``gnomon, command, rows, signatures``.

    Numbers are not rounded; NaN and infinities become ``null``. All of it is ASCII, so that no
    control character reaches a terminal and no encoding can spoil it.

    Args:
        command: the command's name.
        rows: the records of the contract.
        signatures: how to make them again.
        tables: records of further tables by name, under the key ``tables``, which is left out if
            there are none.
        notices: what a reader should know: notes among the ``messages``.
        verdict: what was found, under the key ``messages`` before the rows; likewise. A message has
            its ``code``, ``level``, ``params``, ``subjects``, ``rows`` (positions by the name of
            their table; a name that ``tables`` lacks is that of ``rows``) and ``text``, and where
            something can be done about it ``remedies``.
    """
    return "".join(_envelope(command, rows, signatures, tables, notices, verdict))


def _envelope(
    command: str,
    rows: Iterable[Mapping[str, Any]],
    signatures: Mapping[str, Signature],
    tables: Mapping[str, Iterable[Mapping[str, Any]]] | None = None,
    notices: Sequence[Message] = (),
    found: Sequence[Message] = (),
) -> Iterator[str]:
    content: dict[str, Iterable[str]] = {
        "gnomon": [_json(version())],
        "command": [_json(command)],
    }
    if found or notices:
        notes = [one for one in notices if one not in found]
        content["messages"] = _lines(message_data(said) for said in (*found, *notes))
    content["rows"] = _lines(rows)
    content["signatures"] = [_json({name: str(one) for name, one in signatures.items()})]
    if tables:
        content["tables"] = _members({name: _lines(some) for name, some in tables.items()})
    yield from _members(content)
    yield "\n"


def message_data(said: Message, audience: Audience | None = None) -> dict[str, Any]:
    """A message as JSON has it: its fields, and its text."""
    params = {k: of for k, of in said.params.items() if (said.level, k) != ("error", "said")}
    todo = [{"action": one.kind, **one.arguments} for one in remedies(said)]
    return {
        "code": said.code,
        "level": said.level,
        "params": _finite(params),
        "subjects": said.subjects,
        "rows": said.rows,
        "text": rendered(said, audience=audience),
        **({"remedies": todo} if todo else {}),
    }


def _finite(value: object) -> object:
    """A parameter without numbers that JSON lacks; what a message says in words is its text."""
    if isinstance(value, Mapping):
        return {name: _finite(of) for name, of in value.items() if not _is_worded(of)}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else _plain(value)


def _is_worded(value: object) -> bool:
    """True if a parameter is written for each audience, or holds such words."""
    return isinstance(value, Written) or (isinstance(value, tuple) and any(map(_is_worded, value)))


_encoder = json.JSONEncoder(allow_nan=False)


def _json(content: object) -> str:
    return _encoder.encode(content)


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Records, one per line."""
    before = "[\n"
    for row in rows:
        try:
            line = _json(row)
        except (TypeError, ValueError):  # numpy's numbers, or what is not finite
            line = _json({key: _plain(value) for key, value in row.items()})
        yield before + line
        before = ",\n"
    yield "\n]" if before == ",\n" else "[]"


def _members(content: Mapping[str, Iterable[str]]) -> Iterator[str]:
    before = "{\n"
    for name, parts in content.items():
        yield f"{before}{_json(name)}: "
        yield from parts
        before = ",\n"
    yield "\n}"


def scores_table(scores: Sequence[Scores]) -> Table:
    """The records of ``score``: ``system, metric, score, signature``."""
    columns = (
        Column("system", "System"),
        Column("metric", "Metric"),
        Column("score", "Score", "number"),
        Column("signature", "Signature"),
    )
    return Table("scores", "Scores", columns, tuple(row for s in scores for row in s.rows()))


@checked
def scores_finding(scores: Sequence[Scores], name: str = "") -> Finding:
    """Scores as a finding, for a page or a paper.

    Args:
        scores: what each metric said.
        name: name of the test set.
    """
    systems = len({name for scored in scores for name in scored.systems})
    table, names = scores_table(scores), [scored.metric for scored in scores]
    columns = tuple(column for column in table.columns if column.name != "signature")
    return Finding(
        method="score",
        title="Scores of systems",
        tables=(replace(table, columns=columns),),
        signatures=score_signatures(scores),
        views=tuple(
            Bars(
                "scores",
                f"{metric_title(scored.metric, names)} of each system",
                "metric",
                "system",
                ("score",),
                {"metric": scored.metric},
                ordered=True,
            )
            for scored in scores
        ),
        notices=_notices(scores),
        facts={"test set": name, "metrics": ", ".join(scored.metric for scored in scores)},
        verdict=summarise_scores(scores, shell=False),
        paper=ScoreTable(
            "scores",
            f"Scores of {counted(systems, 'system')}." + " The best are bold." * (systems > 1),
            {scored.metric: "higher" if scored.higher_is_better else "lower" for scored in scores},
        ),
    )


def _notices(scores: Sequence[Scores]) -> tuple[Message, ...]:
    return tuple(dict.fromkeys(notice for scored in scores for notice in scored.notices))


def segments_table(scores: Sequence[Scores]) -> Table:
    """The records of segment scores: ``system, segment, metric, score``."""
    columns = (
        Column("system", "System"),
        Column("segment", "Segment", "count"),
        Column("metric", "Metric"),
        Column("score", "Score", "number"),
    )
    rows = tuple(row for s in scores for row in s.segment_rows())
    return Table("segments", "Segment scores", columns, rows)


def _segments_side_by_side(scores: Sequence[Scores], digits: int | None) -> Table:
    columns = [Column("system", "System"), Column("segment", "Segment", "count")]
    rows: dict[tuple[Cell, Cell], dict[str, Cell]] = {}
    for number, scored in enumerate(scores):
        name = f"score {number}"
        better: Better = "higher" if scored.higher_is_better else "lower"
        wanted = 2 if digits is None else digits
        columns.append(Column(name, scored.metric, "number", wanted, better))
        for row in scored.segment_rows():
            key = (row["system"], row["segment"])
            rows.setdefault(key, {"system": key[0], "segment": key[1]})[name] = row["score"]
    blank: dict[str, Cell] = {column.name: None for column in columns}
    return Table(
        "segments", "Segment scores", tuple(columns), tuple(blank | row for row in rows.values())
    )


def _printed(write: Callable[..., None], *what: Any, **how: Any) -> str:
    """Output that a function prints."""
    file = io.StringIO()
    write(*what, **how, file=file)
    return file.getvalue()


def _finding(
    finding: Finding,
    format_: str,
    digits: int | None,
    *,
    every: bool,
) -> str:
    if format_ == "json":
        further = {table.name: table.rows for table in finding.tables[1:]}
        return envelope(
            finding.method,
            finding.rows,
            finding.signatures,
            further,
            finding.notices,
            finding.verdict,
        )
    if format_ == "tsv":
        return to_tsv(finding.table())
    if format_ == "latex":
        return finding_to_latex(finding, digits=digits, every=every)
    return finding_to_markdown(finding, digits=digits)


def _scores(
    scores: Sequence[Scores],
    format_: str,
    command: str,
    digits: int | None,
) -> str:
    table = scores_table(scores)
    if format_ == "json":
        return envelope(
            command,
            table.rows,
            score_signatures(scores),
            notices=_notices(scores),
            verdict=summarise_scores(scores),
        )
    if format_ == "tsv":
        return to_tsv(table)
    if format_ == "latex":
        return finding_to_latex(scores_finding(scores), digits=digits)
    made = scores_grid(scores, digits=digits)
    return "\n".join(
        filter(None, (verdict_to_markdown(summarise_scores(scores)), to_markdown(made)))
    )


def _plain(value: object) -> object:
    """A value that JSON has: numpy's scalars as Python's, what is not finite as null."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
