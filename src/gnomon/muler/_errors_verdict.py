"""What errors by feature say, in sentences: where they stand, who has more, what metrics miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.annotate import gloss
from gnomon.muler._error_tables import LISTED, TOO_FEW
from gnomon.verdicts import LEAST, Claim, amount, counted, listed, metric_title, number, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

_ALPHA = 0.05
#: what rates of features are held against
_UNITS = ("words", "characters")
#: features that a correlation needs
_FEATURES = 5
_Row = tuple[int, "Mapping[str, Cell]"]

WHERE = Claim(
    "muler.errors.where",
    "{marks} marked errors on {rate} of a hundred {unit}{more}",
    None,
    "p of rates being that of all words, the larger of a test by the draws and a binomial one,"
    " corrected over features after Holm",
)
FEW_WORDS = Claim(
    "muler.errors.few",
    "{marks} checked too few words to say anything",
    "caution",
    "fewer than 30 words in the outputs that were checked",
)
SYSTEMS = Claim(
    "muler.errors.systems",
    "By {marks}, {differences} between systems on a feature hold; the surest: {first} has more"
    " errors than {second} on {feature}, by {size} per hundred (corrected {p})",
    "worse",
    "p after Benjamini and Hochberg, over features and pairs",
)
TOGETHER = Claim(
    "muler.errors.together",
    "MuLER of {metric} and errors by {marks} go together over {n} with r = {size}{gaps}",
    None,
    "the interval of r over segments or documents",
)
FEW_FEATURES = Claim(
    "muler.errors.few-features",
    "MuLER of {metric} and errors by {marks} go together over {n} with r = {size}: too few features"
    " to say anything",
    "caution",
    "fewer than five features",
)
FEW = Claim(
    "muler.errors.few-segments",
    "what {marks} marked rests on {n}, too few to be read as a finding",
    "caution",
    "fewer than 30 segments that were checked, or 15 documents where these are independent",
)
UNLISTED = Claim(
    "muler.errors.unlisted",
    "{marks} lists only outputs with errors ({listed}); outputs that are not listed count as free"
    " of errors",
    "caution",
    "nothing says which outputs without errors were checked, and of two systems the numbers of"
    " outputs with errors differ by more than 1 in 100 segments",
)
ERRORS_CLAIMS = (UNLISTED, WHERE, FEW_WORDS, FEW, SYSTEMS, TOGETHER, FEW_FEATURES)


def errors_verdict(finding: Finding) -> Iterator[Statement]:
    """Where errors are more frequent than elsewhere; which systems differ; what metrics miss."""
    rows = [(at, row) for at, row in enumerate(finding.rows) if row["severity"] == "any"]
    for marks in dict.fromkeys(row["marks"] for _, row in rows):
        unlisted = finding.facts.get(f"{marks}: {LISTED}")
        if unlisted:
            yield UNLISTED.said({}, marks=metric_title(str(marks)), listed=unlisted)
    for marks in dict.fromkeys(row["marks"] for _, row in rows):
        own = [one for one in rows if one[1]["marks"] == marks and one[1]["system"] is None]
        few = finding.facts.get(f"{marks}: {TOO_FEW}")
        yield from _where(finding.tables[0].name, str(marks), own, few)
    yield from _systems(finding)
    yield from _metrics(finding)


def _where(table: str, marks: str, rows: Sequence[_Row], few: str | None) -> Iterator[Statement]:
    words = next((one for one in rows if one[1]["feature"] in _UNITS), None)
    if words is None or (number(words[1]["occurrences"]) or 0) < LEAST:
        yield FEW_WORDS.said({}, marks=metric_title(marks))
        return
    sound = [one for one in rows if not one[1]["few"] and one[1]["feature"] not in _UNITS]
    apart = [one for one in sound if _is_low(one[1].get("p_words"))]
    more = [one for one in apart if (number(one[1]["relative"]) or 0.0) > 1]
    fewer = [one for one in apart if one not in more]
    more.sort(key=lambda one: -(number(one[1]["relative"]) or 0.0))
    fewer.sort(key=lambda one: number(one[1]["relative"]) or 0.0)
    text = ""
    for some, what in ((more, "more often on"), (fewer, "less often on")):
        if some:
            names = listed(
                [f"{gloss(str(r['feature']))} ({_size(r, 'relative')} times)" for _, r in some]
            )
            text += f"; {what} {names}"
    places = {table: [at for at, _ in (words, *more, *fewer)]}
    yield WHERE.said(
        places,
        level="worse" if more else "undecided",
        marks=metric_title(marks),
        rate=_size(words[1], "rate"),
        unit=words[1]["feature"],
        more=text,
    )
    if few:
        yield FEW.said({table: [words[0]]}, marks=metric_title(marks), n=few)


def _is_low(p: Cell) -> bool:
    value = number(p)
    return value is not None and value <= _ALPHA


def _size(row: Mapping[str, Cell], name: str) -> str:
    value, low, high = (number(row.get(one)) for one in (name, f"{name}_low", f"{name}_high"))
    return "an undefined number" if value is None else amount(value, low, high)


def _systems(finding: Finding) -> Iterator[Statement]:
    """How many differences hold, and the surest; p-values are those of Benjamini and Hochberg."""
    if all(table.name != "differences" for table in finding.tables):
        return
    rows = [
        (at, row)
        for at, row in enumerate(finding.table("differences").rows)
        if row["severity"] == "any" and _is_low(row["p_bh"])
    ]
    for marks in dict.fromkeys(row["marks"] for _, row in rows):
        own = [one for one in rows if one[1]["marks"] == marks and one[1]["feature"] not in _UNITS]
        if not own:
            continue
        at, row = own[0]
        first, second = str(row["system_a"]), str(row["system_b"])
        difference, low, high = (number(row[n]) or 0.0 for n in ("difference", "low", "high"))
        if difference < 0:
            first, second, low, high = second, first, -high, -low
        yield SYSTEMS.said(
            {"differences": [at]},
            marks=metric_title(str(marks)),
            differences=counted(len(own), "difference"),
            first=first,
            second=second,
            feature=gloss(str(row["feature"])),
            size=amount(abs(difference), low, high),
            p=p_value(number(row["p_bh"]) or 0.0),
        )


def _metrics(finding: Finding) -> Iterator[Statement]:
    """Whether what people mark costs under a metric, and the features on which the two differ."""
    if all(table.name != "correlations" for table in finding.tables):
        return
    for at, row in enumerate(finding.table("correlations").rows):
        if row["severity"] != "any" or row["system"] is not None:
            continue
        if f"{row['marks']}: {TOO_FEW}" in finding.facts:
            continue
        value, low, high = (number(row[one]) for one in ("r", "r_low", "r_high"))
        if value is None:
            continue
        metric, marks = metric_title(str(row["metric"])), metric_title(str(row["marks"]))
        n = counted(int(number(row["features"]) or 0), "feature")
        size = amount(value, low, high, share=True)
        parts: dict[str, Any] = {"metric": metric, "marks": marks, "n": n, "size": size}
        if int(number(row["features"]) or 0) < _FEATURES:
            yield FEW_FEATURES.said({"correlations": [at]}, **parts)
            continue
        apart = low is not None and high is not None and (low > 0 or high < 0)
        level: Level = ("better" if value > 0 else "worse") if apart else "undecided"
        gaps = _gaps(finding, row)
        yield TOGETHER.said({"correlations": [at]}, level=level, gaps=gaps, **parts)


def _gaps(finding: Finding, of: Mapping[str, Cell]) -> str:
    rows = [
        row
        for row in finding.table("charges").rows
        if all(row[name] == of[name] for name in ("marks", "metric", "severity"))
    ]
    told = ""
    for sign, who in (
        (1, "more is marked than the metric takes off"),
        (-1, "the metric takes off more than is marked"),
    ):
        some = [
            gloss(str(row["feature"]))
            for row in rows
            if _is_low(row["p"]) and sign * (number(row["gap"]) or 0.0) > 0
        ]
        if some:
            told += f"; {who} on {listed(some)}"
    return told
