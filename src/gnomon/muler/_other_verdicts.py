"""What the analyses around MuLER say, in sentences: correlations, discrepancies, judgements."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from gnomon import stats
from gnomon.annotate import gloss
from gnomon.stats.student import upper_tail
from gnomon.verdicts import LEAST, Claim, amount, counted, listed, number, p_value, titles_of

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

ALONG = Claim(
    "muler.correlate.along",
    "Systems that score higher under {metric} lose {what} on {features} (corrected {p})",
    None,
    "Student's t of r over systems, corrected over features after Holm",
)
CHANCE = Claim(
    "muler.correlate.chance",
    "For {n} of MuLER with {metric} the data cannot tell whether they are more than chance",
    "undecided",
    "the corrected p of r is above .05",
)
CORRELATE_OUTSIDE = Claim(
    "muler.correlate.outside",
    "{features}: MuLER of a system is outside 0 to 1, and its correlation is left out",
    "caution",
    "MuLER of every system",
)
FEW_SYSTEMS = Claim(
    "muler.correlate.few-systems",
    "{n} with {metric} over too few systems say little",
    "caution",
    "fewer than five systems",
)
THIN = Claim(
    "muler.correlate.few-segments",
    "{features}: MuLER rests on fewer than 30 segments, too few to be correlated",
    "caution",
    "the segments where both sides have the feature",
)
CORRELATE_CLAIMS = (ALONG, CHANCE, CORRELATE_OUTSIDE, FEW_SYSTEMS, THIN)
UNEVEN = Claim(
    "muler.discrepancy.uneven",
    "{systems} too {what} {features}",
    "worse",
    "a normal test of segments with too few against those with too many, corrected after Holm",
)
EVEN = Claim(
    "muler.discrepancy.even",
    "For {n} of a system and a feature the data cannot tell whether there are too few or too many",
    "undecided",
    "the corrected p of that test is above .05",
)
FEW_JUDGED = Claim(
    "muler.discrepancy.few",
    "fewer than 30 segments are too few to say what systems have too much of",
    "caution",
    "the segments with a reference",
)
DISCREPANCY_CLAIMS = (UNEVEN, EVEN, FEW_JUDGED)
CHANGED = Claim(
    "muler.sentences.changed",
    "{systems} {how} {references}{change} (corrected {p})",
    "worse",
    "a normal test of the mean difference from the references, corrected after Holm",
)
UNCHANGED = Claim(
    "muler.sentences.unchanged",
    "The data cannot tell whether {what} are changed from the references",
    "undecided",
    "the corrected p of that test is above .05",
)
FEW_SCORED = Claim(
    "muler.sentences.few",
    "{what}: fewer than 30 segments have a score on both sides",
    "caution",
    "the segments with a score on both sides",
)
SENTENCES_CLAIMS = (CHANGED, UNCHANGED, FEW_SCORED)
PREFERRED = Claim(
    "muler.judge.preferred",
    "{phrase} the system that MuLER calls better on {feature}: {facts}",
    None,
    "a binomial test of the decided answers, corrected over features after Holm",
)
FEW_ANSWERS = Claim(
    "muler.judge.few",
    "{features}: fewer than 30 decided items say little of whether people see it",
    "caution",
    "the items on which people preferred one of the two",
)
JUDGE_CLAIMS = (PREFERRED, FEW_ANSWERS)
SCALE = Claim(
    "muler.validate.range.scale",
    "With {alpha} of a feature's words right, {metric} lies {off} of its range away from an even"
    " scale on average, at most {most} ({pairs} of a system and a feature){rises}; not tested",
    "undecided",
    "scores of hybrids between the two masks",
)
RANGE_CLAIMS = (SCALE,)
STEADY = Claim(
    "muler.validate.frequency.steady",
    "Where {alpha} of a feature are left, MuLER under {metric} changes by {ours} in the median and"
    " what masking gains by {theirs}; MuLER is the steadier one in {share} of {pairs} of a system"
    " and a feature; not tested",
    "undecided",
    "MuLER of parts of the occurrences of a feature",
)
FREQUENCY_CLAIMS = (STEADY,)
STANDS_OUT = Claim(
    "muler.validate.specificity.apart",
    "{what} is lost than on random words of the same frequency on {features}",
    None,
    "the rank of a feature among random words, or the tail of their distribution, corrected after"
    " Holm",
)
LIKE_RANDOM = Claim(
    "muler.validate.specificity.alike",
    "{figures} of MuLER cannot be told apart from random words of the same frequency",
    "undecided",
    "the corrected p of that test is above .05",
)
FEW_DRAWS = Claim(
    "muler.validate.specificity.draws",
    "{few}; --draws 100 or more can",
    "caution",
    "the smallest p that so many draws can show is above .05",
)
FLAWED = Claim(
    "muler.validate.specificity.flawed",
    "left out: {features} (MuLER outside 0 to 1, or of fewer than 30 segments)",
    "caution",
    "MuLER of the feature, and its segments",
)
SPECIFICITY_CLAIMS = (STANDS_OUT, LIKE_RANDOM, FEW_DRAWS, FLAWED)


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
    """Which features go along with the score over systems; p-values are Holm's, over features."""
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
            yield CORRELATE_OUTSIDE.said(_at(finding, flagged), features=names)


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
    for sign, what in ((1, "less"), (-1, "more")):
        some = [one for one, _ in found if sign * (number(one[1]["r"]) or 0.0) > 0]
        if some:
            largest = p_value(max(q for one, q in found if one in some))
            yield ALONG.said(
                _at(finding, some),
                level="better" if sign > 0 else "worse",
                metric=title,
                what=what,
                features=listed([_correlation(finding, row) for _, row in some]),
                p=largest + " or less" * (len(some) > 1 and "<" not in largest),
            )
    rest = len(sound) - len(found)
    if rest:
        yield CHANCE.said({}, n=counted(rest, "correlation"), metric=title)
    if few:
        n = counted(len(few), "correlation")
        yield FEW_SYSTEMS.said(_at(finding, few), n=n, metric=title)
    if thin:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in thin)))
        yield THIN.said(_at(finding, thin), features=names)


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
            yield UNEVEN.said(
                _at(finding, some), systems="Systems have", what=what, features=listed(told)
            )
            continue
        for system in systems:
            own = [one for one in some if one[1]["system"] == system]
            if own:
                told = [_discrepancy(row, part, other) for _, row in own]
                yield UNEVEN.said(
                    _at(finding, own), systems=f"{system} has", what=what, features=listed(told)
                )
    if len(sound) > len(found):
        yield EVEN.said({}, n=counted(len(sound) - len(found), "pair"))
    if few:
        yield FEW_JUDGED.said(_at(finding, few))


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
    """What systems change of what scorers measure; p-values are Holm's, of normal intervals."""
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
        corrected_p = p_value(max(p_of[position] for position, _ in some))
        first = some[0][1]
        single = len(some) == 1
        changes = [f"{row['system']} by {_change(row)}" for _, row in some]
        alone = f" by {_change(first)} ({counted(_count(first, 'n'))})"
        yield CHANGED.said(
            _at(finding, some),
            systems=f"{first['system']} is" if single else f"{len(some)} systems are",
            how=f"{'lower' if lower else 'higher'} in {scorer} than",
            references="its references" if single else "their references",
            change=alone if single else f": {listed(changes)}",
            p=corrected_p + " or less" * (not single and "<" not in corrected_p),
        )
    rest = [one for one in sound if one not in found]
    if rest:
        names = [f"{row['system']} in {row['scorer']}" for _, row in rest]
        yield UNCHANGED.said(_at(finding, rest), what=listed(names))
    if few:
        names = [f"{row['system']} in {row['scorer']}" for _, row in few]
        yield FEW_SCORED.said(_at(finding, few), what=listed(names))


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
    """Whether people prefer what MuLER calls better; p-values are Holm's, over features."""
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
        level: Level = "undecided"
        phrase = "The data cannot tell whether people prefer"
        if q <= _ALPHA:
            level = "better" if (share or 0.0) > 0.5 else "worse"
            phrase = f"People {'prefer' if level == 'better' else 'do not prefer'}"
        elif share is not None:
            facts = f"they do {facts}"
        yield PREFERRED.said(
            _at(finding, [one]),
            level=level,
            phrase=phrase,
            feature=gloss(str(row["feature"])),
            facts=facts,
        )
    if few:
        names = listed([gloss(str(row["feature"])) for _, row in few])
        yield FEW_ANSWERS.said(_at(finding, few), features=names)


# Validations


def range_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether what is half right scores half-way; nothing is tested."""
    titles = titles_of(finding)
    for one in _of_all(finding):
        row = one[1]
        off, most = number(row["absolute"]), number(row["largest"])
        if off is None or most is None:
            continue
        rising = number(row["rising"])
        rises = "" if rising is None else f"; it rises with that share in {rising:.0%} of them"
        yield SCALE.said(
            _at(finding, [one], "summary"),
            alpha=f"{row['alpha']:.0%}",
            metric=titles[str(row["metric"])],
            off=amount(off, share=True),
            most=amount(most, share=True),
            pairs=counted(_count(row, "systems"), "pair"),
            rises=rises,
        )


def frequency_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether MuLER holds still when features get rarer; nothing is tested."""
    titles = titles_of(finding)
    for one in _of_all(finding):
        row = one[1]
        ours, theirs, steadier = (
            number(row[name]) for name in ("muler_change", "gain_change", "steadier")
        )
        if ours is None or theirs is None or steadier is None:
            continue
        yield STEADY.said(
            _at(finding, [one], "summary"),
            alpha=f"{row['alpha']:.0%}",
            metric=titles[str(row["metric"])],
            ours=f"{ours:.0%}",
            theirs=f"{theirs:.0%}",
            share=f"{steadier:.0%}",
            pairs=counted(_count(row, "systems"), "pair"),
        )


def _of_all(finding: Finding) -> list[_Row]:
    """The averages over all features, in the first variant."""
    if all(table.name != "summary" for table in finding.tables):
        return []
    rows = [one for one in _rows(finding, "summary") if one[1]["feature"] is None]
    return [one for one in rows if one[1].get("variant") == rows[0][1].get("variant")]


def specificity_verdict(finding: Finding) -> Iterator[Statement]:
    """Which features stand out from random words as frequent; p-values are Holm's."""
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
            yield STANDS_OUT.said(
                _at(finding, some),
                level="worse" if more else "better",
                what=what.capitalize(),
                features=listed([_beside_random(row) for _, row in some]),
            )
    if sound and (few := _too_few(row for _, row in sound)):
        yield FEW_DRAWS.said({}, few=few)
    elif len(sound) > len(found):
        yield LIKE_RANDOM.said({}, figures=counted(len(sound) - len(found), "figure"))
    if flawed:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in flawed)))
        yield FLAWED.said(_at(finding, flawed), features=names)


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
    """Which features stand out from random words; p-values are corrected variant by variant."""
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
    """Which features stand out from random words, as the title of a picture."""
    own = [
        (row, apart)
        for row, apart in zip(rows, tell_apart(rows), strict=True)
        if (row["metric"], row["variant"]) == (metric, variant)
    ]
    told = list(dict.fromkeys(gloss(str(row["feature"])) for row, apart in own if apart))
    if told:
        return f"{listed(told)} {'differ' if len(told) > 1 else 'differs'} from random words"
    return _too_few(row for row, _ in own) or "no feature differs from random words"


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
