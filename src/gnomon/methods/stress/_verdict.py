"""What minimal pairs say of a metric, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import UNREAD_TEXTS, Claim, counted, listed, titles_of
from gnomon.methods.stress._figures import SeenOverallRow, StressRow
from gnomon.methods.stress._outcomes import FEW_PAIRS
from gnomon.methods.stress._prices import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding, Statement
    from gnomon.core.records import Record

_INTERVALS = "Wilson's intervals of the shares of pairs, which hold for all rows together"
SEES = Claim(
    "stress.sees",
    "{title} sees {sees}: it scores them below the same text without the error",
    "better",
    _INTERVALS,
)
SEES_BUT = Claim(
    "stress.sees_but",
    "{title} sees {sees}, but too few of {misses}; seen means scored below the same text without"
    " the error",
    "worse",
    _INTERVALS,
)
MISSES = Claim("stress.misses", "{title} sees too few of {misses}", "worse", _INTERVALS)
BLIND = Claim(
    "stress.blind",
    "{title} is blind to {phenomena}: it scores both texts the same in more than nine of ten pairs",
    "worse",
    f"{_INTERVALS}, and the share of ties",
)
UNDECIDED = Claim(
    "stress.undecided",
    "the data cannot tell whether {title} sees {phenomena} in the share of pairs that was asked"
    " for",
    "undecided",
    _INTERVALS,
)
WORDING = Claim(
    "stress.wording",
    "{title} sees {phenomenon} in {unworded} of {pairs} where the reference has none of the words"
    " (in {worded} where it has them)",
    "caution",
    "the shares of pairs whose reference has all words that the worse text lacks, or none of them",
)
SANITY = Claim(
    "stress.sanity",
    "{title} scores {phenomenon} as high as the output, or higher, in {share} of the pairs",
    "caution",
    "the share of such pairs, 1 in 100 or more",
)
CONTROLLED = Claim(
    "stress.control",
    "random scores or length alone see {phenomena}, too: that a metric sees them says little",
    "caution",
    _INTERVALS,
)
PRICES = Claim(
    "stress.prices",
    "of comparisons with a harmless change of the same sentence, a critical error costs more in"
    " {shares} (50 %: the same price)",
    "caution",
    "the mean share over sentences, whose interval lies below 80 in 100",
)
NO_DEARER = Claim(
    "stress.no_dearer",
    "under {title} {phenomena} cost no more than a harmless change of the same sentence",
    "caution",
    "intervals of the shares of comparisons in which an error that is not labelled minor costs"
    " more, which hold for all rows together and end at one half or below",
)
SEVERITY = Claim(
    "stress.severity",
    "the more severe of two errors in a sentence does not cost more under {title}: it does in"
    " {share} of comparisons",
    "caution",
    "the interval of the mean share over sentences, which does not lie above one half",
)
FEW = Claim(
    "stress.few",
    "{phenomena} have fewer than {least} pairs each, too few to be a finding",
    "caution",
    f"fewer than {FEW_PAIRS} pairs",
)
REPEATED = Claim(
    "stress.repeated",
    "of the pairs of {phenomena} only {distinct} of {pairs} are distinct and of two texts that"
    " differ: nothing follows from these",
    "caution",
    "fewer than half of the pairs are distinct",
)
CLAIMS = (
    REPEATED,
    UNREAD_TEXTS,
    SEES,
    SEES_BUT,
    MISSES,
    BLIND,
    UNDECIDED,
    WORDING,
    PRICES,
    NO_DEARER,
    SEVERITY,
    SANITY,
    CONTROLLED,
    FEW,
)
#: a wording of references is said to matter where it changes the share of pairs by so much
_GAP = 0.2
#: a metric prices critical errors if they cost more than harmless changes in so many comparisons
_PRICED = 0.8
#: the share of sanity inputs that pass as good outputs which is said
_TAKEN_IN = 0.01


def stress_verdict(finding: Finding) -> Iterator[Statement]:
    """What each metric sees and misses, the best first; then what limits that."""
    every = finding.records(StressRow)
    rows = [row for row in every if not _is_repeated(row)]
    repeated = [row for row in every if _is_repeated(row) and row.metric == every[0].metric]
    if repeated:
        yield REPEATED.said(
            finding.positions(repeated),
            phenomena=listed([row.phenomenon for row in repeated]),
            distinct=f"{sum(row.distinct for row in repeated):,}",
            pairs=f"{sum(row.pairs for row in repeated):,}",
        )
    titles = titles_of(finding)
    ranked = sorted(
        (row for row in finding.records(SeenOverallRow) if not row.control),
        key=lambda row: -(row.seen or 0.0),
    )
    for overall in ranked:
        errors = [row for row in rows if row.metric == overall.metric and row.kind == "error"]
        yield from _profile(finding, titles[overall.metric], errors)
    yield from _wording(finding, titles, rows)
    yield from _prices(finding, titles, ranked)
    yield from _no_dearer(finding, titles, rows)
    yield from _severity(finding, titles, ranked)
    yield from _sanity(finding, titles, rows)
    yield from _controls(finding, rows)
    few = [row for row in rows if row.status == "few" and row.metric == every[0].metric]
    if few:
        names = listed([row.phenomenon for row in few])
        yield FEW.said(finding.positions(few), phenomena=names, least=FEW_PAIRS)


def _is_repeated(row: StressRow) -> bool:
    return 2 * row.distinct < row.pairs


def _profile(finding: Finding, title: str, errors: Sequence[StressRow]) -> Iterator[Statement]:
    of_status: dict[str, list[StressRow]] = {}
    for row in sorted(errors, key=lambda row: -(row.seen or 0.0)):
        of_status.setdefault(row.status, []).append(row)
    sees, misses = of_status.get("sees", []), of_status.get("misses", [])[::-1]
    claim = {(True, True): SEES_BUT, (True, False): SEES, (False, True): MISSES}.get(
        (bool(sees), bool(misses))
    )
    if claim is not None:
        places = finding.positions([*sees, *misses])
        yield claim.said(places, title=title, sees=_shares(sees), misses=_shares(misses))
    blind = of_status.get("blind", [])
    if blind:
        yield BLIND.said(finding.positions(blind), title=title, phenomena=_shares(blind))
    undecided = of_status.get("undecided", [])
    if undecided and not (sees or misses or blind):
        places = finding.positions(undecided)
        yield UNDECIDED.said(places, title=title, phenomena=_shares(undecided))


def _shares(rows: Sequence[StressRow]) -> str:
    return listed([f"{row.phenomenon} ({_share(row, 'seen')})" for row in rows]) if rows else ""


def _share(row: Record, name: str, of: str = "") -> str:
    """A share in percent and what it is of, with its interval if there is one."""
    share, (low, high) = getattr(row, name) or 0.0, row.ends(name)
    ends = "" if low is None or high is None else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return f"{100 * share:.0f} %{f' {of}' if of else ''}{ends}"


def _wording(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Statement]:
    """Where the words of the reference decide, most of all."""
    gaps = [
        (row.worded_seen - row.unworded_seen, row)
        for row in rows
        if row.kind == "error"
        and not row.control
        and row.worded_seen is not None
        and row.unworded_seen is not None
    ]
    gap, row = max(gaps, key=lambda item: item[0], default=(0.0, None))
    if row is not None and gap >= _GAP:
        yield WORDING.said(
            finding.positions([row]),
            title=titles[row.metric],
            phenomenon=row.phenomenon,
            unworded=f"{row.unworded_seen:.0%}",
            worded=f"{row.worded_seen:.0%}",
            pairs=counted(row.unworded_pairs, "pair"),
        )


def _prices(
    finding: Finding, titles: Mapping[str, str], ranked: Sequence[SeenOverallRow]
) -> Iterator[Statement]:
    """What critical errors cost beside harmless changes, of all metrics in one sentence."""
    priced = [
        row
        for row in sorted(ranked, key=lambda row: row.critical_priced or 0.0)
        if row.critical_priced is not None and (row.ends("critical_priced")[1] or 1.0) < _PRICED
    ]
    if priced:
        shares = [f"{_share(row, 'critical_priced')} under {titles[row.metric]}" for row in priced]
        yield PRICES.said(finding.positions(priced), shares=listed(shares))


def _no_dearer(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Statement]:
    """Errors that cost no more than harmless changes, under the metric that has most of them."""
    by_metric: dict[str, list[StressRow]] = {}
    for row in sorted(rows, key=lambda row: row.priced or 0.0):
        silent = row.control or row.status == "blind" or row.severity == SEVERITIES[0]
        if row.price == "no dearer" and not silent:
            by_metric.setdefault(row.metric, []).append(row)
    metric, cheap = max(by_metric.items(), key=lambda item: len(item[1]), default=("", []))
    if cheap:
        yield NO_DEARER.said(
            finding.positions(cheap),
            title=titles[metric],
            phenomena=listed(
                [
                    f"{row.phenomenon} (dearer in {_share(row, 'priced', 'of comparisons')})"
                    for row in cheap
                ]
            ),
        )


def _severity(
    finding: Finding, titles: Mapping[str, str], ranked: Sequence[SeenOverallRow]
) -> Iterator[Statement]:
    """The metric that follows severity least, if it does not follow it at all."""
    ordered = [row for row in ranked if row.ends("in_order")[1] is not None]
    row = min(ordered, key=lambda row: row.in_order or 0.0, default=None)
    if row is not None and (row.ends("in_order")[1] or 0.0) <= 0.5:
        share = _share(row, "in_order")
        yield SEVERITY.said(finding.positions([row]), title=titles[row.metric], share=share)


def _sanity(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Statement]:
    """The text that is no translation and passes most often."""
    passed = [
        (1 - (row.seen or 0.0), row)
        for row in rows
        if row.kind == "sanity" and not row.control and row.status != "few"
    ]
    share, row = max(passed, key=lambda item: item[0], default=(0.0, None))
    if row is not None and share >= _TAKEN_IN:
        yield SANITY.said(
            finding.positions([row]),
            title=titles[row.metric],
            phenomenon=row.phenomenon,
            share=f"{share:.0%}",
        )


def _controls(finding: Finding, rows: Sequence[StressRow]) -> Iterator[Statement]:
    """What a control sees as well."""
    seen = [row for row in rows if row.control and row.kind == "error" and row.status == "sees"]
    if seen:
        names = [f"{row.phenomenon} ({row.metric} {row.seen:.0%})" for row in seen]
        yield CONTROLLED.said(finding.positions(seen), phenomena=listed(names))
