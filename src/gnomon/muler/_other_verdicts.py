"""What the analyses around MuLER say, in sentences: correlations, discrepancies, judgements."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from gnomon import stats
from gnomon.annotate import gloss
from gnomon.stats.student import upper_tail
from gnomon.verdicts import LEAST, amount, counted, listed, number, p_value, said, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

_ALPHA = 0.05
_Z, _Z_ONE = 1.959964, 1.644854
#: systems that a correlation needs
_SYSTEMS = 5
#: systems that are gone through one by one
_ONE_BY_ONE = 2

_Row = tuple[int, "Mapping[str, Cell]"]


def _rows(finding: Finding, name: str | None = None) -> list[_Row]:
    """The rows of a table with their positions; of whole test sets alone where it has slices."""
    return [
        (at, row) for at, row in enumerate(finding.table(name).rows) if row.get("slice") is None
    ]


def _at(finding: Finding, rows: Sequence[_Row], name: str | None = None) -> dict[str, list[int]]:
    return {finding.table(name).name: [at for at, _ in rows]}


def _count(row: Mapping[str, Cell], name: str) -> int:
    return int(number(row[name]) or 0)


# Correlations


def correlate_verdict(finding: Finding) -> Iterator[Statement]:
    """Which features go along with the score over systems; p-values are Holm's, over features.

    Args:
        finding: correlations of -MuLER.
    """
    every, titles = _rows(finding), titles_of(finding)
    pooled = any(row["pooling"] == "centred" for _, row in every)
    variant = every[0][1]["variant"] if every else None
    for metric in dict.fromkeys(row["metric"] for _, row in every):
        rows = [
            (at, row)
            for at, row in every
            if row["metric"] == row["against"] == metric
            and row["variant"] == variant
            and number(row["r"]) is not None
            and (row["pooling"] == "centred") == pooled
        ]
        outside = _outside(finding, metric, variant)
        yield from _alike(
            finding, titles[str(metric)], [one for one in rows if _key(one[1]) not in outside]
        )
        flagged = [one for one in rows if _key(one[1]) in outside]
        if flagged:
            names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in flagged)))
            text = f"{names}: MuLER of a system is outside 0 to 1, and its correlation is left out"
            yield said("caution", text, _at(finding, flagged))


def _key(row: Mapping[str, Cell]) -> tuple[Cell, Cell]:
    return (None if row.get("pooling") in ("all", "centred") else row["test_set"]), row["feature"]


def _outside(finding: Finding, metric: Cell, variant: Cell) -> set[tuple[Cell, Cell]]:
    """Features whose MuLER cannot be read for some system, by test set and over all of them."""
    if all(table.name != "systems" for table in finding.tables):
        return set()
    rows = [
        row
        for _, row in _rows(finding, "systems")
        if (row["metric"], row["variant"]) == (metric, variant)
        and (value := number(row["muler"])) is not None
        and not 0 <= value <= 1
    ]
    return {key for row in rows for key in (_key(row), (None, row["feature"]))}


def _alike(finding: Finding, title: str, rows: Sequence[_Row]) -> Iterator[Statement]:
    few = [one for one in rows if one[1]["faint"] is True or _count(one[1], "n") < _SYSTEMS]
    thin = [one for one in rows if one not in few and (number(one[1]["segments"]) or LEAST) < LEAST]
    sound = [one for one in rows if one not in few and one not in thin]
    p = stats.holm([_correlated(row) for _, row in sound])
    found = [(one, float(q)) for one, q in zip(sound, p, strict=True) if q <= _ALPHA]
    found.sort(key=lambda one: -abs(number(one[0][1]["r"]) or 0.0))
    for sign, what in ((1, "leave less unearned"), (-1, "leave more unearned")):
        some = [one for one, _ in found if sign * (number(one[1]["r"]) or 0.0) > 0]
        if some:
            largest = max(q for one, q in found if one in some)
            text = (
                f"Systems that score higher under {title} {what} on"
                f" {listed([_correlation(finding, row) for _, row in some])} (corrected"
                f" {p_value(largest)}{' or less' if len(some) > 1 else ''})"
            )
            yield said("better" if sign > 0 else "worse", text, _at(finding, some))
    rest = len(sound) - len(found)
    if rest:
        n = counted(rest, "correlation")
        shows = "shows" if rest == 1 else "show"
        yield said("undecided", f"{n} of MuLER with {title} {shows} no more than chance may")
    if few:
        n = counted(len(few), "correlation")
        text = f"{n} with {title} over too few systems say next to nothing"
        yield said("caution", text, _at(finding, few))
    if thin:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in thin)))
        text = f"{names}: MuLER rests on fewer than {LEAST} segments, too few to be correlated"
        yield said("caution", text, _at(finding, thin))


def _correlated(row: Mapping[str, Cell]) -> float:
    """P of the test that r is 0, two-sided, by Student's t."""
    r, n = number(row["r"]) or 0.0, _count(row, "n")
    if abs(r) >= 1:
        return 0.0
    return 2 * upper_tail(abs(r) * math.sqrt((n - 2) / (1 - r * r)), n - 2)


def _correlation(finding: Finding, row: Mapping[str, Cell]) -> str:
    r, n = number(row["r"]) or 0.0, _count(row, "n")
    z, half = math.atanh(max(min(r, 1 - 1e-9), 1e-9 - 1)), _Z / math.sqrt(max(n - 3, 1))
    sets = {one["test_set"] for one in finding.rows if one["pooling"] == row["pooling"]}
    place = f" on {row['test_set']}" if len(sets) > 1 else ""
    size = amount(r, math.tanh(z - half), math.tanh(z + half), share=True)
    return f"{gloss(str(row['feature']))}{place} (r = {size}, {counted(n, 'system')})"


# Discrepancy


def discrepancy_verdict(finding: Finding) -> Iterator[Statement]:
    """What systems have too few and too many of; p-values are Holm's, over systems and features.

    Segments with too few and with too many are compared by a normal test of their difference.

    Args:
        finding: how often features occur on both sides.
    """
    rows = [one for one in _rows(finding) if number(one[1]["miss"]) is not None]
    few = [one for one in rows if _count(one[1], "segments") < LEAST]
    sound = [one for one in rows if one not in few]
    p = stats.holm([_uneven(row) for _, row in sound])
    found = [one for one, q in zip(sound, p, strict=True) if q <= _ALPHA]
    systems = list(dict.fromkeys(row["system"] for _, row in sound))
    for part, other, what in (("miss", "add", "few"), ("add", "miss", "many")):
        some = [
            one for one in found if (number(one[1][part]) or 0.0) > (number(one[1][other]) or 0.0)
        ]
        some.sort(key=lambda one: -_apart(one[1]))
        if len(systems) > _ONE_BY_ONE and some:
            names = Counter(str(row["feature"]) for _, row in some).most_common()
            worst = {str(row["feature"]): row for _, row in reversed(some)}
            told = [
                f"{gloss(name)} ({n} of {len(systems)} systems; most so"
                f" {worst[name]['system']}, in {_share(worst[name], part)} of the segments)"
                for name, n in names
            ]
            yield said("worse", f"Systems have too {what} {listed(told)}", _at(finding, some))
            continue
        for system in systems:
            own = [one for one in some if one[1]["system"] == system]
            if own:
                told = [_discrepancy(row, part, other) for _, row in own]
                yield said("worse", f"{system} has too {what} {listed(told)}", _at(finding, own))
    if len(sound) > len(found):
        rest = counted(len(sound) - len(found), "pair")
        text = f"{rest} of a system and a feature show neither too few nor too many of it"
        yield said("undecided", text)
    if few:
        text = f"fewer than {LEAST} segments are too few to say what systems have too much of"
        yield said("caution", text, _at(finding, few))


def _apart(row: Mapping[str, Cell]) -> float:
    return abs((number(row["miss"]) or 0.0) - (number(row["add"]) or 0.0))


def _uneven(row: Mapping[str, Cell]) -> float:
    n = _count(row, "segments")
    differ = (number(row["miss"]) or 0.0) + (number(row["add"]) or 0.0)
    if not differ:
        return 1.0
    return math.erfc(_apart(row) * math.sqrt(n / differ) / math.sqrt(2))


def _share(row: Mapping[str, Cell], name: str) -> str:
    low, high = (number(row.get(f"{name}_{end}")) for end in ("low", "high"))
    return amount(number(row[name]) or 0.0, low, high, share=True)


def _discrepancy(row: Mapping[str, Cell], part: str, other: str) -> str:
    against = "too many" if part == "miss" else "too few"
    return (
        f"{gloss(str(row['feature']))} (in {_share(row, part)} of the segments, {against} in"
        f" {_share(row, other)})"
    )


# Sentence scorers


def sentences_verdict(finding: Finding) -> Iterator[Statement]:
    """What systems change of what scorers measure; p-values are Holm's, of normal intervals.

    Args:
        finding: differences of scores of sentences.
    """
    rows = [one for one in _rows(finding) if number(one[1]["signed"]) is not None]
    few = [one for one in rows if _count(one[1], "n") < LEAST]
    sound = [one for one in rows if one not in few]
    corrected = stats.holm([_changed(row) for _, row in sound])
    pairs = list(zip(sound, corrected, strict=True))
    found = [one for one, p in pairs if p <= _ALPHA]
    found.sort(key=lambda one: -abs(number(one[1]["signed"]) or 0.0))
    p_of = {position: float(p) for (position, _), p in pairs}
    groups: dict[tuple[Cell, bool], list[tuple[int, Mapping[str, Cell]]]] = {}
    for one in found:
        lower = (number(one[1]["signed"]) or 0.0) > 0
        groups.setdefault((one[1]["scorer"], lower), []).append(one)
    for (scorer, lower), some in groups.items():
        how = f"{'lower' if lower else 'higher'} in {scorer} than"
        p = p_value(max(p_of[position] for position, _ in some))
        told = [f"{row['system']} by {_change(row)}" for _, row in some]
        text = (
            f"{some[0][1]['system']} is {how} its references by {_change(some[0][1])}"
            f" ({counted(_count(some[0][1], 'n'))}, corrected {p})"
        )
        if len(some) > 1:
            text = f"{len(some)} systems are {how} their references: {listed(told)}"
            text += f" (corrected {p}{'' if '<' in p else ' or less'})"
        yield said("worse", text, _at(finding, some))
    rest = [one for one in sound if one not in found]
    if rest:
        names = [f"{row['system']} in {row['scorer']}" for _, row in rest]
        text = f"no change from the references is found for {listed(names)}"
        yield said("undecided", text, _at(finding, rest))
    if few:
        names = [f"{row['system']} in {row['scorer']}" for _, row in few]
        text = f"{listed(names)}: fewer than {LEAST} segments have a score on both sides"
        yield said("caution", text, _at(finding, few))


def _change(row: Mapping[str, Cell]) -> str:
    """How far a system is from its references, without a sign, and the interval of that."""
    signed, low, high = (number(row[name]) for name in ("signed", "low", "high"))
    if (signed or 0.0) <= 0 and low is not None and high is not None:
        low, high = -high, -low
    return amount(abs(signed or 0.0), low, high)


def _changed(row: Mapping[str, Cell]) -> float:
    """P of a mean, of its interval; NaN where it has none."""
    signed, low, high = (number(row[name]) for name in ("signed", "low", "high"))
    if signed is None or low is None or high is None or high <= low:
        return math.nan
    return math.erfc(abs(signed) / ((high - low) / (2 * _Z)) / math.sqrt(2))


# Judgements


def judge_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether people prefer what MuLER calls better; p-values are Holm's, over features.

    Args:
        finding: answers of people.
    """
    rows = _rows(finding)
    first = rows[0][1]["annotator"] if rows else None
    rows = [
        (at, row)
        for at, row in rows
        if row["annotator"] == first and number(row["agreement"]) is not None
    ]
    decided = [_count(row, "agree") + _count(row, "disagree") for _, row in rows]
    few = [one for one, n in zip(rows, decided, strict=True) if n < LEAST]
    sound = [one for one in rows if one not in few]
    p = [number(row["p"]) for _, row in sound]
    for one, q in zip(sound, stats.holm([math.nan if v is None else v for v in p]), strict=True):
        row = one[1]
        share, low, high = (number(row[name]) for name in ("agreement", "low", "high"))
        n = _count(row, "agree") + _count(row, "disagree")
        size = amount(share or 0.0, low, high, share=True)
        facts = f"in {size} of {n:,} decided items (corrected {p_value(float(q))})"
        what = f"the system that MuLER calls better on {gloss(str(row['feature']))}"
        level: Level = "undecided"
        text = f"whether people prefer {what}: they do {facts}"
        if q <= _ALPHA:
            level = "better" if (share or 0.0) > 0.5 else "worse"
            text = f"People {'prefer' if level == 'better' else 'do not prefer'} {what}: {facts}"
        yield said(level, text, _at(finding, [one]))
    if few:
        names = listed([gloss(str(row["feature"])) for _, row in few])
        text = f"{names}: fewer than {LEAST} decided items say little of whether people see it"
        yield said("caution", text, _at(finding, few))


# Validations


def range_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether what is half right scores half-way; nothing is tested.

    Args:
        finding: hybrids between the oracles.
    """
    titles = titles_of(finding)
    for one in _of_all(finding):
        row = one[1]
        off, most = number(row["absolute"]), number(row["largest"])
        if off is None or most is None:
            continue
        rising = number(row["rising"])
        rises = "" if rising is None else f"; it rises with that share in {rising:.0%} of them"
        text = (
            f"with {row['alpha']:.0%} of a feature's words right, {titles[str(row['metric'])]} lies"
            f" {amount(off, share=True)} of its range away from an even scale on average, at most"
            f" {amount(most, share=True)} ({counted(_count(row, 'systems'), 'pair')} of a"
            f" system and a feature){rises}; no test was made"
        )
        yield said("undecided", text, _at(finding, [one], "summary"))


def frequency_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether MuLER holds still when features get rarer; nothing is tested.

    Args:
        finding: MuLER of parts of features.
    """
    titles = titles_of(finding)
    for one in _of_all(finding):
        row = one[1]
        ours, theirs, steadier = (
            number(row[name]) for name in ("muler_change", "gain_change", "steadier")
        )
        if ours is None or theirs is None or steadier is None:
            continue
        text = (
            f"where {row['alpha']:.0%} of a feature are left, MuLER under"
            f" {titles[str(row['metric'])]} changes by {ours:.0%} in the median and what"
            f" masking gains by {theirs:.0%}; MuLER is the steadier one in {steadier:.0%} of"
            f" {counted(_count(row, 'systems'), 'pair')} of a system and a feature; no"
            " test was made"
        )
        yield said("undecided", text, _at(finding, [one], "summary"))


def _of_all(finding: Finding) -> list[_Row]:
    """The averages over all features, in the first variant."""
    if all(table.name != "summary" for table in finding.tables):
        return []
    rows = [one for one in _rows(finding, "summary") if one[1]["feature"] is None]
    return [one for one in rows if one[1].get("variant") == rows[0][1].get("variant")]


def specificity_verdict(finding: Finding) -> Iterator[Statement]:
    """Which features stand out from random words as frequent; p-values are Holm's.

    Args:
        finding: features beside random words.
    """
    every = _rows(finding)
    rows = [
        one
        for one in every
        if number(one[1]["below"]) is not None and one[1]["variant"] == every[0][1]["variant"]
    ]
    flawed = [one for one in rows if not _may_be_read(one[1])]
    sound = [one for one in rows if one not in flawed]
    found = [
        one for one, apart in zip(sound, _stands_out([r for _, r in sound]), strict=True) if apart
    ]
    for more, what in ((True, "more"), (False, "less")):
        some = [one for one in found if ((number(one[1]["deviation"]) or 0.0) > 0) == more]
        some.sort(key=lambda one: -abs(number(one[1]["deviation"]) or 0.0))
        if some:
            told = [_beside_random(row) for _, row in some]
            text = f"{what} is lost than on random words of the same frequency on {listed(told)}"
            level: Level = "worse" if more else "better"
            yield said(level, text[0].upper() + text[1:], _at(finding, some))
    if sound and (few := _too_few(row for _, row in sound)):
        yield said("caution", f"{few}; --draws 100 or more can")
    elif len(sound) > len(found):
        rest = counted(len(sound) - len(found), "figure")
        verb = "is" if len(sound) - len(found) == 1 else "are"
        yield said(
            "undecided", f"{rest} of MuLER {verb} not told from random words of the same frequency"
        )
    if flawed:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in flawed)))
        text = f"left out: {names} (MuLER outside 0 to 1, or of fewer than {LEAST} segments)"
        yield said("caution", text, _at(finding, flawed))


def _too_few(rows: Iterable[Mapping[str, Cell]]) -> str:
    """That no feature could be told from so few random ones; empty where some could."""
    most = max((_count(row, "draws") for row in rows), default=0)
    if 2 / (most + 1) <= _ALPHA:
        return ""
    return f"{counted(most, 'draw')} of random words cannot tell a feature from them"


def _may_be_read(row: Mapping[str, Cell]) -> bool:
    return 0 <= (number(row["muler"]) or 0.0) <= 1 and _count(row, "segments") >= LEAST


def _stands_out(rows: Sequence[Mapping[str, Cell]]) -> list[bool]:
    """Which features stand out from random words, all of them corrected together."""
    return [bool(q <= _ALPHA) for q in stats.holm([_rare(row) for row in rows])]


def tell_apart(rows: Sequence[Mapping[str, Cell]]) -> list[bool]:
    """Which features stand out from random words; p-values are corrected variant by variant.

    Args:
        rows: the features of all systems under all metrics.
    """
    found = [False] * len(rows)
    for variant in dict.fromkeys(row["variant"] for row in rows):
        own = [
            n
            for n, row in enumerate(rows)
            if row["variant"] == variant and number(row["below"]) is not None and _may_be_read(row)
        ]
        for n, apart in zip(own, _stands_out([rows[n] for n in own]), strict=True):
            found[n] = apart
    return found


def specificity_headline(rows: Sequence[Mapping[str, Cell]], metric: str, variant: str) -> str:
    """Which features stand out from random words, as the title of a picture.

    Args:
        rows: the features of all systems under all metrics.
        metric: of the picture.
        variant: of MuLER.
    """
    own = [
        (row, apart)
        for row, apart in zip(rows, tell_apart(rows), strict=True)
        if (row["metric"], row["variant"]) == (metric, variant)
    ]
    told = list(dict.fromkeys(gloss(str(row["feature"])) for row, apart in own if apart))
    if told:
        return f"{listed(told)} {'differ' if len(told) > 1 else 'differs'} from random words"
    return _too_few(row for row, _ in own) or "no feature is told from random words"


def _rare(row: Mapping[str, Cell]) -> float:
    """Two-sided p of a feature among random ones as frequent.

    As many as are drawn can show no p below 2 in their number and one, which many features do not
    survive. Beyond the middle 95 % of them, p is that of a normal and of a gamma distribution of
    their mean and variance, whichever says less: MuLER of rare features is skewed like the latter.
    The variance is its upper 95 % bound.
    """
    below, n = number(row["below"]) or 0.0, _count(row, "draws")
    among = min(1.0, 2 * (min(below, 1 - below) * n + 1) / (n + 1))
    muler, mean, variance = (number(row[name]) or 0.0 for name in ("muler", "mean", "variance"))
    if among > _ALPHA or not variance or n < LEAST:
        return among
    # chi-squared as a cube of a normal, and below gamma likewise (Wilson and Hilferty, 1931)
    ninth = 2 / (9 * (n - 1))
    spread = math.sqrt(variance * (1 + 1 / n) / (1 - ninth - _Z_ONE * math.sqrt(ninth)) ** 3)
    tails = [abs(muler - mean) / spread]
    if mean > 0:
        shape = (mean / spread) ** 2
        root = math.cbrt(max(muler, 0.0) / mean)
        tails.append(abs(root - 1 + 1 / (9 * shape)) * 3 * math.sqrt(shape))
    return math.erfc(min(tails) / math.sqrt(2))


def _beside_random(row: Mapping[str, Cell]) -> str:
    muler, mean, low, high = (number(row[name]) or 0.0 for name in ("muler", "mean", "q05", "q95"))
    random = amount(mean, low, high, share=True)
    feature = gloss(str(row["feature"]))
    return f"{feature} ({row['system']}: {amount(muler, share=True)} against {random})"
