"""What minimal pairs say of a metric, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import (
    MOST,
    amount,
    counted,
    listed,
    titles_of,
)
from gnomon.methods.stress._claims import (
    BLIND,
    CONTRAST,
    CONTRASTS,
    CONTROLLED,
    CROSSED,
    DOSES,
    FEW,
    FEW_DOCUMENTS,
    HIDDEN,
    MISSES,
    NO_DEARER,
    PRICES,
    REPEATED,
    SANITY,
    SANITY_BEATS,
    SEES,
    SEES_BUT,
    SEVERITY,
    UNDECIDED,
    WORDING,
)
from gnomon.methods.stress._contrasts import SeenContrastRow
from gnomon.methods.stress._doses import DoseRow
from gnomon.methods.stress._figures import SeenOverallRow, StressRow
from gnomon.methods.stress._outcomes import FEW_PAIRS
from gnomon.methods.stress._prices import SEVERITIES
from gnomon.methods.stress._sanity import SanityRow
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding, Statement
    from gnomon.core.records import Record

#: a wording of references is said to matter where it changes the share of pairs by so much
_GAP = 0.2
#: a metric prices critical errors if they cost more than harmless changes in so many comparisons
_PRICED = 0.8
#: metrics whose errors seen and missed are said
_PROFILES = 2
#: two metrics differ on an error at this level, corrected for all errors
_ALPHA = 0.05
#: so many of 100 sentences are worth saying
_HIDDEN = 10
#: the share of sanity inputs that pass as good outputs which is said
_TAKEN_IN = 0.01


def stress_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether a metric is taken in; what each sees and misses, the best first; what limits that."""
    every = finding.records(StressRow)
    rows = [row for row in every if not _is_repeated(row)]
    repeated = [row for row in every if _is_repeated(row) and row.metric == every[0].metric]
    said: list[Statement] = []
    if repeated:
        said.append(
            REPEATED.said(
                finding.positions(repeated),
                phenomena=listed([row.phenomenon for row in repeated]),
                distinct=f"{sum(row.distinct for row in repeated):,}",
                pairs=f"{sum(row.pairs for row in repeated):,}",
            )
        )
    titles = titles_of(finding)
    ranked = sorted(
        (row for row in finding.records(SeenOverallRow) if not row.control),
        key=lambda row: -(row.seen or 0.0),
    )
    errors = [row for row in rows if row.kind == "error" and not row.control]
    profiles = [
        list(_profile(finding, titles[of.metric], [r for r in errors if r.metric == of.metric]))
        for of in ranked
    ]
    first = [*said, *_sanity(finding, titles)]
    first += [statement for profile in profiles for statement in profile[:1]][:_PROFILES]
    crossed = list(_crossed(finding, titles, rows))
    limits = (
        *(crossed or _wording(finding, titles, errors)),
        *_prices(finding, titles, ranked),
        *_no_dearer(finding, titles, errors),
        *(statement for profile in profiles for statement in profile[1:]),
        *_controls(finding, rows),
        *_contrast(finding, titles, errors),
        *_few(finding, rows),
        *_severity(finding, titles, ranked),
        *_doses(finding, titles),
        *_hidden(finding, titles, errors),
    )
    yield from [*first, *limits][:MOST]


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
    return f"{_percent(share)}{f' {of}' if of else ''}{ends}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _wording(
    finding: Finding, titles: Mapping[str, str], errors: Sequence[StressRow]
) -> Iterator[Statement]:
    """Where the words of the reference decide, most of all."""
    gaps = [
        (row.worded_seen - row.unworded_seen, row)
        for row in errors
        if row.worded_seen is not None and row.unworded_seen is not None
    ]
    gap, row = max(gaps, key=lambda item: item[0], default=(0.0, None))
    if row is not None and gap >= _GAP:
        yield WORDING.said(
            finding.positions([row]),
            title=titles[row.metric],
            phenomenon=row.phenomenon,
            unworded=_percent(row.unworded_seen or 0.0),
            worded=_percent(row.worded_seen or 0.0),
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
    finding: Finding, titles: Mapping[str, str], errors: Sequence[StressRow]
) -> Iterator[Statement]:
    """Errors that cost no more than harmless changes, under the metric that has most of them."""
    by_metric: dict[str, list[StressRow]] = {}
    for row in sorted(errors, key=lambda row: row.priced or 0.0):
        silent = row.status == "blind" or row.severity == SEVERITIES[0]
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


def _sanity(finding: Finding, titles: Mapping[str, str]) -> Iterator[Statement]:
    """The text that is no translation and beats most systems; else the one that passes most."""
    rows = [row for row in finding.records(SanityRow) if not row.control]
    row = max(rows, key=lambda row: row.beaten or 0, default=None)
    if row is not None and row.beaten and row.corpus is not None:
        yield SANITY_BEATS.said(
            finding.positions([row]),
            input=row.input,
            title=titles[row.metric],
            corpus=amount(row.corpus),
            beaten=row.beaten,
            systems=counted(row.systems or 0, "system"),
        )
        return
    passed = [
        (1 - row.below, row) for row in rows if row.below is not None and row.pairs >= FEW_PAIRS
    ]
    share, row = max(passed, key=lambda item: item[0], default=(0.0, None))
    if row is not None and share >= _TAKEN_IN:
        yield SANITY.said(
            finding.positions([row]),
            title=titles[row.metric],
            input=row.input,
            share=_percent(share),
        )


def _crossed(
    finding: Finding, titles: Mapping[str, str], rows: Sequence[StressRow]
) -> Iterator[Statement]:
    """The errors that a metric no longer sees where the right text is worded otherwise."""
    gaps = [
        ((plain.seen or 0.0) - (row.seen or 0.0), plain, row)
        for row in rows
        if row.kind == "crossed" and row.status not in ("few", "") and not row.control
        for plain in rows
        if plain.kind == "error" and plain.metric == row.metric and _is_same_error(plain, row)
        if (plain.ends("seen")[0] or 0.0) > (row.ends("seen")[1] or 0.0)
    ]
    if gaps:
        _, plain, row = max(gaps, key=lambda item: item[0])
        yield CROSSED.said(
            finding.positions([plain, row]),
            title=titles[row.metric],
            phenomenon=plain.phenomenon,
            plain=_share(plain, "seen"),
            crossed=_share(row, "seen"),
        )


def _is_same_error(plain: StressRow, crossed: StressRow) -> bool:
    by_name = crossed.phenomenon == f"{plain.phenomenon}, crossed"
    return by_name or (bool(plain.feature) and plain.feature == crossed.feature)


def _contrast(
    finding: Finding, titles: Mapping[str, str], errors: Sequence[StressRow]
) -> Iterator[Statement]:
    """What each of two metrics sees that the other misses, of the two that differ most."""
    by_pair: dict[tuple[str, str], list[SeenContrastRow]] = {}
    for row in finding.records(SeenContrastRow):
        if row.p_corrected is not None and row.p_corrected <= _ALPHA:
            by_pair.setdefault((row.metric, row.other), []).append(row)
    if not by_pair:
        return
    pair, rows = max(by_pair.items(), key=lambda item: len(item[1]))
    seen = {(row.metric, row.phenomenon): row.seen or 0.0 for row in errors}

    def list_errors(metric: str, other: str, chosen: Sequence[SeenContrastRow]) -> str:
        shares = [
            (seen[metric, row.phenomenon], seen[other, row.phenomenon], row.phenomenon)
            for row in chosen
            if (metric, row.phenomenon) in seen and (other, row.phenomenon) in seen
        ]
        shares.sort(key=lambda item: item[1] - item[0])
        texts = [f"{name} ({_percent(a)} against {_percent(b)})" for a, b, name in shares]
        return listed(texts) if texts else ""

    more = [row for row in rows if row.metric_only > row.other_only]
    less = [row for row in rows if row.metric_only < row.other_only]
    metric, other = pair if len(more) >= len(less) else pair[::-1]
    gains, losses = (more, less) if len(more) >= len(less) else (less, more)
    phenomena, others = list_errors(metric, other, gains), list_errors(other, metric, losses)
    places, claim = finding.positions(rows), CONTRASTS if others else CONTRAST
    if phenomena:
        yield claim.said(
            places, title=titles[metric], other=titles[other], phenomena=phenomena, others=others
        )


def _doses(finding: Finding, titles: Mapping[str, str]) -> Iterator[Statement]:
    """The errors of which more raise the score most often."""
    rows = [row for row in finding.records(DoseRow) if not row.control and row.pairs >= FEW_PAIRS]
    highest = {(row.metric, row.phenomenon): row for row in rows}.values()  # doses ascend
    rising = [row for row in highest if (row.ends("never_rises")[1] or 1.0) < _PRICED]
    row = min(rising, key=lambda row: row.never_rises or 0.0, default=None)
    if row is not None:
        yield DOSES.said(
            finding.positions([row]),
            title=titles[row.metric],
            share=_share(row, "never_rises"),
            phenomenon=row.phenomenon,
            places=counted(row.dose, "place"),
        )


def _hidden(
    finding: Finding, titles: Mapping[str, str], errors: Sequence[StressRow]
) -> Iterator[Statement]:
    """The errors, not labelled minor, of which most hide in a difference of systems."""
    rows = [
        row
        for row in errors
        if row.hidden is not None and row.status == "sees" and row.severity != SEVERITIES[0]
    ]
    row = max(rows, key=lambda row: row.hidden or 0.0, default=None)
    if row is not None and row.hidden is not None and row.hidden >= _HIDDEN:
        yield HIDDEN.said(
            finding.positions([row]),
            title=titles[row.metric],
            phenomenon=row.phenomenon,
            hidden=f"{row.hidden:.0f}",
        )


def _few(finding: Finding, rows: Sequence[StressRow]) -> Iterator[Statement]:
    """The errors of too few pairs, or of too few documents."""
    few = [row for row in rows if row.status == "few" and row.metric == rows[0].metric]
    for claim, of_few, least in (
        (FEW, [row for row in few if row.pairs < FEW_PAIRS], FEW_PAIRS),
        (FEW_DOCUMENTS, [row for row in few if row.pairs >= FEW_PAIRS], LEAST_DOCUMENTS),
    ):
        if of_few:
            names = listed([row.phenomenon for row in of_few])
            yield claim.said(finding.positions(of_few), phenomena=names, least=least)


def _controls(finding: Finding, rows: Sequence[StressRow]) -> Iterator[Statement]:
    """What a control sees as well."""
    seen = [row for row in rows if row.control and row.kind == "error" and row.status == "sees"]
    if seen:
        names = [f"{row.phenomenon} ({row.metric} {_percent(row.seen or 0.0)})" for row in seen]
        yield CONTROLLED.said(finding.positions(seen), phenomena=listed(names))
