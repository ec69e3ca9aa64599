"""How marks compare with people's, in sentences: how much is found, who finds more, the ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import (
    LEAST,
    Claim,
    amount,
    counted,
    listed,
    metric_title,
    number,
    p_value,
)
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Finding, Statement

_ALPHA = 0.05
_Row = tuple[int, "Mapping[str, Cell]"]

_FOUND = Claim(
    "metaeval.spans.found",
    "{marker} marks {recall} of the characters that people marked, and {precision} of what it marks"
    " is theirs (F1 {f1}, {n})",
    "undecided",
    "the figures alone: nothing says from which F1 on marks are good",
)
_NOTHING = Claim(
    "metaeval.spans.nothing",
    "{whose} nothing in the outputs of {n}{checked}",
    "undecided",
    "the number of marks",
)
_PEOPLE = Claim(
    "metaeval.spans.people",
    "People beside each other reach F1 {f1} of characters ({n}): no more can be asked of a metric",
    "undecided",
    "outputs that two people checked",
)
_BELOW_PEOPLE = Claim(
    "metaeval.spans.below_people",
    "People beside each other reach F1 {f1} of characters ({n}), which {marker} does not",
    "worse",
    "the interval of the best marker ends below that of people",
)
_LIKE_PEOPLE = Claim(
    "metaeval.spans.like_people",
    "People beside each other reach F1 {f1} of characters ({n}); the data cannot tell whether"
    " {marker} does",
    "undecided",
    "the intervals of the best marker and of people meet, or there are none",
)
_BETTER = Claim(
    "metaeval.spans.better",
    "{first} marks people's errors better than {second}, by F1 {size} (corrected {p})",
    "better",
    "the test of the difference on the judgements that both are beside, Holm over all pairs",
)
_EQUAL = Claim(
    "metaeval.spans.undecided",
    "{first} and {second} cannot be told apart: F1 of {first} is higher by {size} (corrected {p})",
    "undecided",
    "the test of the difference is not significant",
)
_FREE = Claim(
    "metaeval.spans.free",
    "Of {n} people found {share} % free of errors; {marker} tells these from the others, by its"
    " {decided} (MCC {mcc}{best})",
    "better",
    "an interval of Matthews' correlation above 0; the highest of several is not tested",
)
_FREE_UNSURE = Claim(
    "metaeval.spans.free_unsure",
    "Of {n} people found {share} % free of errors; the data cannot tell whether {marker} knows"
    " which, by its {decided} (MCC {mcc}{best})",
    "undecided",
    "an interval of Matthews' correlation that holds 0, or none",
)
_FEW = Claim(
    "metaeval.spans.few",
    "{markers}: fewer than {least} judgements are too few to be read as a finding",
    "caution",
    "the number of judgements",
)
_FEW_DOCUMENTS = Claim(
    "metaeval.spans.few_documents",
    "{documents} {are} too few for intervals and tests; what one person marked in a document is not"
    " independent",
    "caution",
    "the number of documents of the judgements, below 15",
)
#: all that can be said of marks and people's
CLAIMS = (
    *(_FOUND, _NOTHING, _PEOPLE, _BELOW_PEOPLE, _LIKE_PEOPLE, _BETTER, _EQUAL, _FREE),
    *(_FREE_UNSURE, _FEW, _FEW_DOCUMENTS),
)


def error_spans_verdict(finding: Finding) -> Iterator[Statement]:
    """How many of people's characters each marker finds, and the ceiling; then who is better."""
    every = [
        (at, row)
        for at, row in enumerate(finding.rows)
        if row["system"] is None and row["unit"] == "characters" and row["average"] == "pooled"
    ]
    few = [entry for entry in every if int(number(entry[1]["judgements"]) or 0) < LEAST]
    sound = [entry for entry in every if entry not in few]
    ceiling = next((entry for entry in sound if entry[1]["ceiling"]), None)
    markers = [entry for entry in sound if not entry[1]["ceiling"]]
    markers.sort(key=lambda entry: -(number(entry[1]["f1"]) or 0.0))
    table = finding.tables[0].name
    for at, row in markers:
        yield _agreement_statement(table, at, row)
    yield from _ceiling(table, ceiling, markers)
    yield from _contests(finding)
    yield from _free(finding)
    if few:
        names = listed([_title(row) for _, row in few])
        yield _FEW.said({table: [at for at, _ in few]}, markers=names, least=LEAST)
    documents = [(at, number(row["documents"])) for at, row in sound]
    short = [(at, int(n)) for at, n in documents if n is not None and n < LEAST_DOCUMENTS]
    if short:
        most = max(n for _, n in short)
        yield _FEW_DOCUMENTS.said(
            {table: [at for at, _ in short]},
            documents=counted(most, "document"),
            are="is" if most == 1 else "are",
        )


def _title(row: Mapping[str, Cell]) -> str:
    return metric_title(str(row["marks"]))


def _figure(row: Mapping[str, Cell], name: str) -> str:
    value = number(row[name])
    if value is None:
        return "an undefined share"
    return amount(
        value, number(row.get(f"{name}_low")), number(row.get(f"{name}_high")), share=True
    )


def _agreement_statement(table: str, at: int, row: Mapping[str, Cell]) -> Statement:
    n, title = counted(int(number(row["judgements"]) or 0), "judgement"), _title(row)
    if not number(row["marked"]):
        return _NOTHING.said({table: [at]}, whose=f"{title} marks", n=n, checked="")
    if not number(row["gold"]):
        checked = f" that {title} checked"
        return _NOTHING.said({table: [at]}, whose="People marked", n=n, checked=checked)
    figures = {name: _figure(row, name) for name in ("recall", "precision", "f1")}
    return _FOUND.said({table: [at]}, marker=title, n=n, **figures)  # type: ignore[arg-type]


def _ceiling(table: str, ceiling: _Row | None, markers: Sequence[_Row]) -> Iterator[Statement]:
    """How far people agree with each other, and how near the best marker comes."""
    if ceiling is None:
        return
    at, row = ceiling
    f1, n = _figure(row, "f1"), counted(int(number(row["judgements"]) or 0), "judgement")
    if not markers:
        yield _PEOPLE.said({table: [at]}, f1=f1, n=n)
        return
    best = markers[0]
    high, low = number(best[1].get("f1_high")), number(row.get("f1_low"))
    below = low is not None and high is not None and high < low
    claim = _BELOW_PEOPLE if below else _LIKE_PEOPLE
    yield claim.said({table: [at, best[0]]}, f1=f1, n=n, marker=_title(best[1]))


def _contests(finding: Finding) -> Iterator[Statement]:
    if all(table.name != "contests" for table in finding.tables):
        return
    for at, row in enumerate(finding.table("contests").rows):
        difference, p = number(row["difference"]), number(row["p_holm"])
        if difference is None or p is None or (number(row["judgements"]) or 0) < LEAST:
            continue
        first, second = str(row["first"]), str(row["second"])
        low, high = number(row["low"]), number(row["high"])
        if difference < 0:
            first, second = second, first
            low, high = (None if end is None else -end for end in (high, low))
        claim = _BETTER if p <= _ALPHA else _EQUAL
        yield claim.said(
            {"contests": [at]},
            first=metric_title(first),
            second=metric_title(second),
            size=amount(abs(difference), low, high, share=True),
            p=p_value(p),
        )


def _free(finding: Finding) -> Iterator[Statement]:
    """The marker that tells best which outputs are free of errors, at the first threshold."""
    if all(table.name != "error_free" for table in finding.tables):
        return
    every = list(enumerate(finding.table("error_free").rows))
    first = every[0][1]["threshold"] if every else None
    rows = [
        entry
        for entry in every
        if entry[1]["threshold"] == first
        and not entry[1]["ceiling"]
        and number(entry[1]["mcc"]) is not None
        and (number(entry[1]["outputs"]) or 0) >= LEAST
    ]
    if not rows:
        return
    at, row = max(rows, key=lambda entry: number(entry[1]["mcc"]) or 0.0)
    low = number(row.get("mcc_low"))
    claim = _FREE if low is not None and low > 0 else _FREE_UNSURE
    yield claim.said(
        {"error_free": [at]},
        n=counted(int(number(row["outputs"]) or 0), "judgement"),
        share=amount(100 * (number(row["people"]) or 0.0)),
        marker=_title(row),
        decided=row["decided_by"],
        mcc=_figure(row, "mcc"),
        best=f", the highest of {len(rows)}" if len(rows) > 1 else "",
    )
