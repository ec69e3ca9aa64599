"""What errors by feature say, in sentences: where they are, who has more, what metrics miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import LEAST, Claim, amount, counted, listed, metric_title, p_value
from gnomon.linguistics import gloss
from gnomon.methods.muler._error_rates import UNITS
from gnomon.methods.muler._error_rows import (
    ChargeCorrelationRow,
    ErrorRateDifferenceRow,
    ErrorRateRow,
    FeatureChargeRow,
)
from gnomon.methods.muler._error_tables import LISTED, TOO_FEW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from gnomon.core.findings import Finding, Level, Statement

_ALPHA = 0.05
#: features that a correlation needs
_FEATURES = 5

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
    rows = [row for row in finding.records(ErrorRateRow) if row.severity == "any"]
    markers = list(dict.fromkeys(row.marks for row in rows))
    for marks in markers:
        unlisted = finding.facts.get(f"{marks}: {LISTED}")
        if unlisted:
            yield UNLISTED.said({}, marks=metric_title(marks), listed=unlisted)
    for marks in markers:
        whole = [row for row in rows if row.marks == marks and row.system is None]
        few = finding.facts.get(f"{marks}: {TOO_FEW}")
        yield from _where(finding, marks, whole, few)
    yield from _systems(finding)
    yield from _metrics(finding)


def _where(
    finding: Finding, marks: str, rows: Sequence[ErrorRateRow], few: str | None
) -> Iterator[Statement]:
    words = next((row for row in rows if row.feature in UNITS), None)
    if words is None or words.occurrences < LEAST:
        yield FEW_WORDS.said({}, marks=metric_title(marks))
        return
    apart = [
        row for row in rows if not row.few and row.feature not in UNITS and _is_low(row.p_words)
    ]
    more = [row for row in apart if (row.relative or 0.0) > 1]
    fewer = [row for row in apart if (row.relative or 0.0) <= 1]
    more.sort(key=lambda row: -(row.relative or 0.0))
    fewer.sort(key=lambda row: row.relative or 0.0)
    text = ""
    for some, what in ((more, "more often on"), (fewer, "less often on")):
        if some:
            names = listed(
                [f"{gloss(row.feature)} ({_size(row, 'relative')} times)" for row in some]
            )
            text += f"; {what} {names}"
    yield WHERE.said(
        finding.positions([words, *more, *fewer]),
        level="worse" if more else "undecided",
        marks=metric_title(marks),
        rate=_size(words, "rate"),
        unit=words.feature,
        more=text,
    )
    if few:
        yield FEW.said(finding.positions([words]), marks=metric_title(marks), n=few)


def _is_low(p: float | None) -> bool:
    return p is not None and p <= _ALPHA


def _size(row: ErrorRateRow, name: Literal["rate", "relative"]) -> str:
    value = row.rate if name == "rate" else row.relative
    return "an undefined number" if value is None else amount(value, *row.ends(name))


def _systems(finding: Finding) -> Iterator[Statement]:
    """How many differences hold, and the surest; p-values are those of Benjamini and Hochberg."""
    rows = [
        row
        for row in finding.records(ErrorRateDifferenceRow)
        if row.severity == "any" and _is_low(row.p_bh)
    ]
    for marks in dict.fromkeys(row.marks for row in rows):
        of_features = [row for row in rows if row.marks == marks and row.feature not in UNITS]
        if not of_features:
            continue
        row = of_features[0]
        first, second = row.system_a, row.system_b
        low, high = (end or 0.0 for end in row.ends("difference"))
        if row.difference < 0:
            first, second, low, high = second, first, -high, -low
        yield SYSTEMS.said(
            finding.positions([row]),
            marks=metric_title(marks),
            differences=counted(len(of_features), "difference"),
            first=first,
            second=second,
            feature=gloss(row.feature),
            size=amount(abs(row.difference), low, high),
            p=p_value(row.p_bh or 0.0),
        )


def _metrics(finding: Finding) -> Iterator[Statement]:
    """Whether what people mark costs under a metric, and the features on which the two differ."""
    for row in finding.records(ChargeCorrelationRow):
        if row.severity != "any" or row.system is not None or row.r is None:
            continue
        if f"{row.marks}: {TOO_FEW}" in finding.facts:
            continue
        parts: dict[str, Any] = {
            "metric": metric_title(row.metric),
            "marks": metric_title(row.marks),
            "n": counted(row.features, "feature"),
            "size": amount(row.r, *row.ends("r"), share=True),
        }
        if row.features < _FEATURES:
            yield FEW_FEATURES.said(finding.positions([row]), **parts)
            continue
        low, high = row.ends("r")
        apart = low is not None and high is not None and (low > 0 or high < 0)
        level: Level = ("better" if row.r > 0 else "worse") if apart else "undecided"
        gaps = _gaps(finding, row)
        yield TOGETHER.said(finding.positions([row]), level=level, gaps=gaps, **parts)


def _gaps(finding: Finding, of: ChargeCorrelationRow) -> str:
    rows = [
        row
        for row in finding.records(FeatureChargeRow)
        if (row.marks, row.metric, row.severity) == (of.marks, of.metric, of.severity)
    ]
    text = ""
    for sign, who in (
        (1, "more is marked than the metric takes off"),
        (-1, "the metric takes off more than is marked"),
    ):
        names = [gloss(row.feature) for row in rows if _is_low(row.p) and sign * row.gap > 0]
        if names:
            text += f"; {who} on {listed(names)}"
    return text
