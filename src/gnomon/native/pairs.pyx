"""Pairs of members counted by how people and metrics order them.

Rows are groups, [groups, members]; members with NaN on either side take no part. A metric ties two
members when their scores differ by at most ``epsilon``; a human ties equal scores only.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport fabs, fabsf, isnan
from libc.stdint cimport int16_t, int64_t, uint64_t

from gnomon.native._signals cimport answer_after

cdef extern from "_lanes.h" nogil:
    const int LANES
    ctypedef struct doubles_t:
        pass
    ctypedef struct masks_t:
        pass
    doubles_t load(const double*)
    doubles_t fill(double)
    doubles_t minus(doubles_t, doubles_t)
    doubles_t magnitude(doubles_t)
    masks_t above(doubles_t, doubles_t)
    masks_t at_least(doubles_t, doubles_t)
    masks_t both(masks_t, masks_t)
    masks_t either(masks_t, masks_t)
    masks_t unlike(masks_t, masks_t)
    masks_t but_not(masks_t, masks_t)
    masks_t nothing()
    masks_t tally(masks_t, masks_t)
    int64_t total(masks_t)

__all__ = [
    "count_far_pairs",
    "count_pairs",
    "count_sole_successes",
    "count_sorted",
    "exchanged_flips",
    "exchanged_pairs",
    "leanings",
    "pairs_of_bins",
    "tie_bins",
]

cdef enum:
    CONCORDANT, DISCORDANT, TIED_HUMAN, TIED_METRIC, TIED_BOTH
    #: members up to which counts of pairs fit 16 bits
    FEW = 255
    #: planes of a counter of pairs, one bit of 64 numbers each
    PLANES = 15

#: rounding to single precision of two numbers and of their difference, as a share of the numbers
cdef double ROUGH = 2.0**-22
#: between which numbers single precision has all of its digits
cdef double TINY = 2.0**-90, HUGE = 2.0**90


def _floats(values, int dimensions, str name):
    """Contiguous doubles."""
    found = np.ascontiguousarray(values, dtype=np.float64)
    if found.ndim != dimensions:
        raise ValueError(f"{name}: {dimensions} dimensions are needed, {found.ndim} given")
    return found


def _sides(**sides):
    """Scores of one shape [groups, members]."""
    found = [_floats(values, 2, name) for name, values in sides.items()]
    shapes = {name: values.shape for name, values in zip(sides, found, strict=True)}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"all sides need one shape [groups, members]; shapes are {shapes}")
    return found


cdef class _Complete:
    """Rows of scores; of one at a time the members that both sides have, and a place more.

    A third side lacks those that the second lacks.
    """

    cdef const double[:, ::1] human, metric, other
    cdef double[:, ::1] scores
    cdef Py_ssize_t groups, size
    cdef double *h
    cdef double *m
    cdef double *o

    def __cinit__(self, **sides):
        self.human, self.metric, *more = _sides(**sides)
        self.other = more[0] if more else self.metric
        self.groups = self.human.shape[0]
        self.scores = np.zeros((3, self.human.shape[1] + LANES))
        self.h, self.m, self.o = &self.scores[0, 0], &self.scores[1, 0], &self.scores[2, 0]

    cdef void read(self, Py_ssize_t group) noexcept nogil:
        cdef Py_ssize_t i
        self.size = 0
        for i in range(self.human.shape[1]):
            self.h[self.size], self.m[self.size] = self.human[group, i], self.metric[group, i]
            self.o[self.size] = self.other[group, i]
            self.size += not (isnan(self.human[group, i]) or isnan(self.metric[group, i]))


def count_pairs(human, metric, double epsilon):
    """Pairs of each row, int64 [groups, 5]: one column per kind, every pair looked at."""
    cdef _Complete row = _Complete(human=human, metric=metric)
    found = np.zeros((row.groups, 5), dtype=np.int64)
    cdef int64_t[:, ::1] counts = found
    cdef Py_ssize_t group, i, j, work = 0
    cdef int64_t every, untied_human, untied_metric, untied_both
    cdef doubles_t hi, mi, hj, dm, least = fill(epsilon), most = fill(-epsilon)
    cdef masks_t agree, of_human, of_metric, of_both, higher, more, by_human, by_metric
    with nogil:
        for group in range(row.groups):
            row.read(group)
            agree = of_human = of_metric = of_both = nothing()
            for i in range(1, row.size):
                hi, mi = fill(row.h[i]), fill(row.m[i])
                j = 0
                while j < i:  # past the last comes the member itself, which ties with itself
                    hj = load(row.h + j)
                    dm = minus(mi, load(row.m + j))
                    higher, more = above(hi, hj), above(dm, least)
                    by_human = either(higher, above(hj, hi))
                    by_metric = either(more, above(most, dm))
                    of_human, of_metric = tally(of_human, by_human), tally(of_metric, by_metric)
                    by_human = both(by_human, by_metric)
                    of_both = tally(of_both, by_human)
                    agree = tally(agree, but_not(by_human, unlike(higher, more)))
                    j += LANES
                answer_after(&work, i)
            untied_human, untied_metric = total(of_human), total(of_metric)
            untied_both, every = total(of_both), row.size * (row.size - 1) // 2
            counts[group, CONCORDANT] = total(agree)
            counts[group, DISCORDANT] = untied_both - total(agree)
            counts[group, TIED_HUMAN] = untied_metric - untied_both
            counts[group, TIED_METRIC] = untied_human - untied_both
            counts[group, TIED_BOTH] = every - untied_human - untied_metric + untied_both
    return found


def count_sole_successes(human, first, second, double epsilon, double other_epsilon):
    """Pairs that only the first metric gets right, only the second, and all [groups, 3].

    Right: ordered as people do, or tied by both. A member lacks all three scores or none. Each
    metric has its ``epsilon``.
    """
    cdef _Complete row = _Complete(human=human, first=first, second=second)
    found = np.zeros((row.groups, 3), dtype=np.int64)
    cdef int64_t[:, ::1] counts = found
    cdef Py_ssize_t group, i, j, work = 0
    cdef doubles_t hi, ai, bi, hj, da, db
    cdef doubles_t least = fill(epsilon), most = fill(-epsilon)
    cdef doubles_t other_least = fill(other_epsilon), other_most = fill(-other_epsilon)
    cdef masks_t alone, others_alone, higher, lower, wrong, others_wrong
    with nogil:
        for group in range(row.groups):
            row.read(group)
            alone = others_alone = nothing()
            for i in range(1, row.size):
                hi, ai, bi = fill(row.h[i]), fill(row.m[i]), fill(row.o[i])
                j = 0
                while j < i:  # past the last comes the member itself, which all tie with itself
                    hj = load(row.h + j)
                    da, db = minus(ai, load(row.m + j)), minus(bi, load(row.o + j))
                    higher, lower = above(hi, hj), above(hj, hi)
                    wrong = either(
                        unlike(higher, above(da, least)), unlike(lower, above(most, da))
                    )
                    others_wrong = either(
                        unlike(higher, above(db, other_least)), unlike(lower, above(other_most, db))
                    )
                    alone = tally(alone, but_not(others_wrong, wrong))
                    others_alone = tally(others_alone, but_not(wrong, others_wrong))
                    j += LANES
                answer_after(&work, i)
            counts[group, 0], counts[group, 1] = total(alone), total(others_alone)
            counts[group, 2] = row.size * (row.size - 1) // 2
    return found


def count_sorted(human, metric, double least, double epsilon):
    """The same of one group without missing scores, in time that n log n tells.

    Args:
        human: scores [members].
        metric: likewise.
        least: by how much scores of people differ at least that are not tied, above 0.
        epsilon: by how much scores of the metric differ at most that are tied.

    Returns:
        Pairs concordant, discordant, that people do not tie, and that the metric does not.
    """
    human, metric = _floats(human, 1, "human"), _floats(metric, 1, "metric")
    if human.shape != metric.shape or not (least > 0 and epsilon >= 0):
        raise ValueError(
            f"{len(human)} and {len(metric)} scores, least difference {least}, epsilon {epsilon}"
        )
    order = np.argsort(human, kind="stable")
    cdef const double[::1] h = human[order], m = metric[order], ascending = np.sort(metric)
    cdef Py_ssize_t n = h.shape[0], i, k, added = 0, work = 0
    # how many are less than each by more than epsilon, and how many are not more than it so
    places = np.argsort(metric[order], kind="stable")
    cdef int64_t[::1] place = places, rank = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] below = np.empty(n, dtype=np.int64), upto = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] tree = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t low = 0, high = 0, concordant = 0, discordant = 0, of_human = 0, of_metric = 0
    with nogil:
        for k in range(n):
            i = place[k]
            rank[i] = k
            while low < n and ascending[k] - ascending[low] > epsilon:
                low += 1
            high = max(high, k + 1)
            while high < n and not ascending[high] - ascending[k] > epsilon:
                high += 1
            below[i], upto[i] = low, high
            of_metric += low
        for i in range(n):
            while added < i and h[i] - h[added] >= least:
                _count(tree, rank[added])
                added += 1
            of_human += added
            concordant += _counted(tree, below[i])
            discordant += added - _counted(tree, upto[i])
            answer_after(&work, 64)
    return concordant, discordant, of_human, of_metric


# Numbers of values below a rank, in a tree of sums (Fenwick 1994).


cdef inline void _count(int64_t[::1] tree, Py_ssize_t rank) noexcept nogil:
    rank += 1
    while rank < tree.shape[0]:
        tree[rank] += 1
        rank += rank & -rank


cdef inline int64_t _counted(int64_t[::1] tree, Py_ssize_t rank) noexcept nogil:
    cdef int64_t found = 0
    while rank > 0:
        found += tree[rank]
        rank &= rank - 1
    return found


def count_far_pairs(human, metric, double threshold):
    """Concordant and all pairs whose human scores differ by at least ``threshold``, int64 [2]."""
    cdef _Complete row = _Complete(human=human, metric=metric)
    cdef Py_ssize_t group, i, j, work = 0
    cdef int64_t themselves = 0
    cdef doubles_t hi, mi, hj, mj, least = fill(threshold)
    cdef masks_t concordant = nothing(), every = nothing(), far, agree
    with nogil:
        for group in range(row.groups):
            row.read(group)
            for i in range(1, row.size):
                hi, mi = fill(row.h[i]), fill(row.m[i])
                j = 0
                while j < i:
                    hj, mj = load(row.h + j), load(row.m + j)
                    far = at_least(magnitude(minus(hi, hj)), least)
                    agree = either(
                        both(above(hi, hj), above(mi, mj)), both(above(hj, hi), above(mj, mi))
                    )
                    every, concordant = tally(every, far), tally(concordant, both(far, agree))
                    j += LANES
                # past the last came the member itself
                themselves += j > i and fabs(row.h[i] - row.h[i]) >= threshold
                answer_after(&work, i)
    return np.array([total(concordant), total(every) - themselves], dtype=np.int64)


cdef inline Py_ssize_t _bin(
    double difference, double widest, double scale, Py_ssize_t bins
) noexcept nogil:
    if difference >= widest:
        return bins - 1
    return min(<Py_ssize_t>(difference * scale), bins - 1)


cdef inline int _kind(double one, double other, double dm) noexcept nogil:
    # 0: tied by people, 1: concordant, 2: neither; without branches, which chance would mislead
    cdef int concordant = ((one > other) & (dm > 0)) | ((one < other) & (dm < 0))
    return 2 - concordant - 2 * (one == other)


cdef inline double _difference(double one, double other) noexcept nogil:
    # equal infinite scores differ by nothing
    cdef double difference = one - other
    return 0.0 if isnan(difference) else difference


cdef double _bins_per_unit(double widest, Py_ssize_t bins) except -1:
    if not (0 < widest < float("inf") and bins > 0):
        raise ValueError(f"bins from 0 to {widest}: {bins}; both need to be above 0")
    return min(bins / widest, DBL_MAX)  # 0 times infinity is no number


def tie_bins(human, metric, double widest, Py_ssize_t bins):
    """Pairs tied by people, concordant, and others [3, bins], by difference of metric scores.

    ``bins`` bins of equal width reach from 0 to ``widest``.
    """
    cdef double dm, scale = _bins_per_unit(widest, bins)
    cdef _Complete row = _Complete(human=human, metric=metric)
    found = np.zeros((3, bins), dtype=np.int64)
    cdef int64_t[:, ::1] pairs = found
    cdef Py_ssize_t group, i, j, work = 0
    with nogil:
        for group in range(row.groups):
            row.read(group)
            for i in range(1, row.size):
                for j in range(i):
                    dm = _difference(row.m[i], row.m[j])
                    pairs[
                        _kind(row.h[i], row.h[j], dm), _bin(fabs(dm), widest, scale, bins)
                    ] += 1
                answer_after(&work, 4 * i)
    return found


def pairs_of_bins(human, metric, weights, double widest, wanted, Py_ssize_t size):
    """Differences, signed weights (+ tied by people, - concordant) and bins of wanted pairs.

    Args:
        human: scores [groups, members].
        metric: likewise.
        weights: what a pair of each group weighs [groups].
        widest: where the last bin ends.
        wanted: bool [bins].
        size: how many pairs of these bins are tied by people or concordant.
    """
    cdef _Complete row = _Complete(human=human, metric=metric)
    cdef const double[::1] weight = _floats(weights, 1, "weights")
    cdef const unsigned char[::1] chosen = np.ascontiguousarray(wanted, dtype=bool).view(np.uint8)
    cdef Py_ssize_t bins = chosen.shape[0]
    cdef double dm, scale = _bins_per_unit(widest, bins)
    if weight.shape[0] != row.groups or size < 0:
        raise ValueError(f"weights of {len(weights)} groups for {row.groups}; {size} pairs")
    found = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    cdef double[::1] differences = found[0], gains = found[1]
    cdef int64_t[::1] places = found[2]
    cdef Py_ssize_t group, i, j, b, k = 0, work = 0
    cdef int kind
    with nogil:
        for group in range(row.groups):
            row.read(group)
            for i in range(1, row.size):
                for j in range(i):
                    dm = _difference(row.m[i], row.m[j])
                    b = _bin(fabs(dm), widest, scale, bins)
                    if chosen[b]:
                        kind = _kind(row.h[i], row.h[j], dm)
                        if kind < 2:
                            if k == size:
                                raise ValueError(f"more than {size} pairs are in these bins")
                            differences[k], places[k] = fabs(dm), b
                            gains[k] = weight[group] if kind == 0 else -weight[group]
                            k += 1
                answer_after(&work, 4 * i)
    return tuple([values[:k] for values in found])


cdef inline int _sign(double difference) noexcept nogil:
    return (difference > 0) - (difference < 0)


cdef inline void _add(uint64_t* planes, uint64_t bits) noexcept nogil:
    """Add 0 or 1 to each of 64 numbers."""
    cdef uint64_t carried
    cdef int k
    for k in range(4):  # most carries end here
        carried = planes[k] & bits
        planes[k] ^= bits
        bits = carried
    k = 4
    while bits:
        carried = planes[k] & bits
        planes[k] ^= bits
        bits = carried
        k += 1


cdef inline uint64_t _chosen(
    uint64_t neither, uint64_t one, uint64_t other, uint64_t both_, uint64_t at_s, uint64_t at_t
) noexcept nogil:
    """For each draw the bit of its case, told by whether it exchanges the one and the other."""
    cdef uint64_t without_t = neither ^ (at_s & (neither ^ one))
    return without_t ^ (at_t & (without_t ^ other ^ (at_s & (other ^ both_))))


def exchanged_pairs(human, first, second, words):
    """Pairs of each row under 64 exchanges of two metrics' scores, all 64 at once.

    What a pair adds depends on whether its one and its other score are exchanged, which are four
    cases, whatever the number of draws.

    Args:
        human: [groups, members], fewer than 256 members; a member lacks all three scores or none.
        first: one metric's scores.
        second: the other's.
        words: uint64 [groups, members], bit d set where draw d exchanges the scores.

    Returns:
        int16 [2, 3, groups, 64], for the first metric with the second's scores put in and the other
        way round: pairs concordant, tied by the metric, and those of them that people do not tie;
        int64 [groups, 2]: all pairs, and those that people do not tie.
    """
    human, first, second = _sides(human=human, first=first, second=second)
    words = np.ascontiguousarray(words, dtype=np.uint64)
    cdef const double[:, ::1] people = human, one = first, two = second
    cdef const uint64_t[:, ::1] draws = words
    cdef Py_ssize_t groups = people.shape[0], size = people.shape[1]
    if words.shape != human.shape:
        raise ValueError(f"words have the shape {words.shape}, scores {human.shape}")
    if size > FEW:
        raise ValueError(f"at most {FEW} members can be counted; {size} given")
    found = np.zeros((2, 3, groups, 64), dtype=np.int16)
    numbers = np.zeros((groups, 2), dtype=np.int64)
    cdef int16_t[:, :, :, ::1] counts = found
    cdef int64_t[:, ::1] known = numbers
    cdef uint64_t[2][3][PLANES] planes
    cdef uint64_t[4] masks
    cdef uint64_t[2] tied
    cdef int[4] signs
    cdef Py_ssize_t[FEW] there
    cdef Py_ssize_t group, s, t, i, j, n, work = 0
    cdef uint64_t at_s, at_t, plane
    cdef int k, order, kind, draw, sign
    with nogil:
        for group in range(groups):
            for order in range(2):
                for kind in range(3):
                    for k in range(PLANES):
                        planes[order][kind][k] = 0
            n = 0
            for s in range(size):
                if not (isnan(people[group, s]) or isnan(one[group, s])):
                    there[n] = s
                    n += 1
            for i in range(1, n):
                s = there[i]
                at_s = draws[group, s]
                for j in range(i):
                    t = there[j]
                    at_t = draws[group, t]
                    sign = _sign(people[group, s] - people[group, t])
                    known[group, 1] += sign != 0
                    signs[0] = _sign(one[group, s] - one[group, t])
                    signs[1] = _sign(two[group, s] - one[group, t])
                    signs[2] = _sign(one[group, s] - two[group, t])
                    signs[3] = _sign(two[group, s] - two[group, t])
                    for k in range(4):
                        masks[k] = -<uint64_t>(signs[k] * sign > 0)
                    _add(planes[0][0], _chosen(masks[0], masks[1], masks[2], masks[3], at_s, at_t))
                    # with everything exchanged that is not, the last case takes the first's place
                    _add(planes[1][0], _chosen(masks[3], masks[2], masks[1], masks[0], at_s, at_t))
                    if signs[0] * signs[1] * signs[2] * signs[3] == 0:
                        for k in range(4):
                            masks[k] = -<uint64_t>(signs[k] == 0)
                        tied[0] = _chosen(masks[0], masks[1], masks[2], masks[3], at_s, at_t)
                        tied[1] = _chosen(masks[3], masks[2], masks[1], masks[0], at_s, at_t)
                        for order in range(2):
                            _add(planes[order][1], tied[order])
                            if sign != 0:
                                _add(planes[order][2], tied[order])
            known[group, 0] = n * (n - 1) // 2
            for order in range(2):
                for kind in range(3):
                    for k in range(PLANES):
                        plane = planes[order][kind][k]
                        if plane:
                            for draw in range(64):
                                counts[order, kind, group, draw] += ((plane >> draw) & 1) << k
            answer_after(&work, 32 * (n * n))
    return found, numbers


def leanings(human, first, second, bint alike):
    """What one member's exchange moves two metrics' agreement with people apart.

    Let e be 1 where a member keeps its scores and -1 where they are exchanged. What a pair adds to
    one metric's count is a polynomial in two e's, and to the other's the same one at -e, so that
    of their difference only terms in a single e are left: it is a sum over members of e times a
    number, which this finds.

    Args:
        human: [groups, members], fewer than 256 members; a member lacks all three scores or none.
        first: one metric's scores.
        second: the other's.
        alike: count the pairs on which metric and people say the same, ties included; else those
            ordered alike less those ordered the other way.

    Returns:
        int16 [groups, members], twice these numbers; bool [groups], whether an exchange could tie
        two members by a metric.
    """
    human, first, second = _sides(human=human, first=first, second=second)
    cdef const double[:, ::1] people = human, one = first, two = second
    cdef Py_ssize_t groups = people.shape[0], size = people.shape[1]
    if size > FEW:
        raise ValueError(f"at most {FEW} members can be counted; {size} given")
    found = np.zeros((groups, size), dtype=np.int16)
    tying = np.zeros(groups, dtype=bool)
    cdef int16_t[:, ::1] lean = found
    cdef unsigned char[::1] ties = tying.view(np.uint8)
    cdef Py_ssize_t group, s, t, work = 0
    cdef int said, kept, both, at_s, at_t, gain, turn
    cdef double[FEW] h, a, b
    cdef Py_ssize_t[FEW] there
    cdef int[FEW] moved
    cdef Py_ssize_t n
    cdef bint tie
    with nogil:
        for group in range(groups):
            n = 0
            for s in range(size):
                if not (isnan(people[group, s]) or isnan(one[group, s])):
                    h[n], a[n], b[n] = people[group, s], one[group, s], two[group, s]
                    there[n], moved[n] = s, 0
                    n += 1
            tie = False
            for s in range(1, n):
                for t in range(s):
                    said = _sign(h[s] - h[t])
                    kept, both = _sign(a[s] - a[t]), _sign(b[s] - b[t])
                    at_s, at_t = _sign(b[s] - a[t]), _sign(a[s] - b[t])
                    tie |= kept * both * at_s * at_t == 0
                    if alike:
                        gain = (kept == said) - (both == said)
                        turn = (at_t == said) - (at_s == said)
                    else:
                        gain, turn = said * (kept - both), said * (at_t - at_s)
                    moved[s] += gain + turn
                    moved[t] += gain - turn
            ties[group] = tie
            for s in range(n):
                lean[group, there[s]] = moved[s]
            answer_after(&work, 8 * (n * n))
    return found, tying


cdef int _ahead(const float* one, const float* other, int flips, float near) noexcept nogil:
    """In how many flips one is more than the other; -1 where some differ by ``near`` or less."""
    cdef int more = 0, far = 0, flip
    for flip in range(flips):
        more += one[flip] - other[flip] > near
        far += fabsf(one[flip] - other[flip]) > near
    return more if far == flips else -1


def exchanged_flips(
    ahead, moved, sizes, shifts, Py_ssize_t first, Py_ssize_t second, double rounding
):
    """Flips in which one system is as far ahead of another as without any, of all pairs.

    Of two metrics whose scores are exchanged in each of some draws.

    Args:
        ahead: null sums less the observed one [metrics, systems, flips].
        moved: the same of the scores that are exchanged [metrics, draws, systems, flips].
        sizes: sums of absolute scores [metrics, systems].
        shifts: the same of the scores that are exchanged [metrics, draws, systems].
        first: number of one metric.
        second: number of the other.
        rounding: what is rounding, as a share of the sizes.

    Returns:
        int64 [2, draws, 2, pairs]: for the first metric with the second's scores put in, and the
        other way round; flips that reach what is observed, and those beyond it.
    """
    cdef const double[:, :, ::1] sums = _floats(ahead, 3, "ahead"), gone = _floats(shifts, 3, "shifts")
    cdef const double[:, :, :, ::1] others = _floats(moved, 4, "moved")
    cdef const double[:, ::1] whole = _floats(sizes, 2, "sizes")
    cdef Py_ssize_t metrics = others.shape[0], draws = others.shape[1]
    cdef Py_ssize_t systems = others.shape[2], flips = others.shape[3]
    wanted = (metrics, systems, flips), (metrics, systems), (metrics, draws, systems)
    if (np.shape(ahead), np.shape(sizes), np.shape(shifts)) != wanted:
        raise ValueError(
            f"for sums of the shape {np.shape(moved)}, the others need {wanted}; they have"
            f" {np.shape(ahead)}, {np.shape(sizes)} and {np.shape(shifts)}"
        )
    if not (0 <= first < metrics and 0 <= second < metrics):
        raise ValueError(f"metrics {first} and {second} of {metrics}; the first is 0")
    found = np.zeros((2, draws, 2, systems * (systems - 1) // 2), dtype=np.int64)
    cdef int64_t[:, :, :, ::1] reached = found
    cdef double[:, ::1] now = np.empty((systems, flips))
    cdef float[:, ::1] rough = np.empty((systems, flips), dtype=np.float32)
    cdef double[::1] size = np.empty(systems)
    cdef Py_ssize_t draw, order, s, t, flip, pair, a, b, work = 0
    cdef double slack, gain, near
    cdef int64_t some, beyond
    with nogil:
        for draw in range(draws):
            for order in range(2):
                a, b = (second, first) if order else (first, second)
                for s in range(systems):
                    size[s] = whole[a, s] - gone[a, draw, s] + gone[b, draw, s]
                    for flip in range(flips):
                        gain = others[b, draw, s, flip] - others[a, draw, s, flip]
                        now[s, flip] = sums[a, s, flip] + gain
                        rough[s, flip] = <float>now[s, flip]
                pair = 0
                for s in range(systems):
                    for t in range(s + 1, systems):
                        slack = rounding * (size[s] + size[t])
                        # by single precision, unless something is too close to tell by it; a sum
                        # of flipped scores is at most twice their size ahead of the observed one
                        near = slack + ROUGH * 2 * (size[s] + size[t]) + TINY
                        some = beyond = -1
                        if near < HUGE:
                            some = beyond = _ahead(&rough[s, 0], &rough[t, 0], flips, near)
                        if some < 0:
                            some = beyond = 0
                            for flip in range(flips):
                                gain = now[s, flip] - now[t, flip]
                                some += gain >= -slack
                                beyond += gain > slack
                        reached[order, draw, 0, pair] = some
                        reached[order, draw, 1, pair] = beyond
                        pair += 1
                answer_after(&work, (pair + 2 * systems) * flips)
    return found
