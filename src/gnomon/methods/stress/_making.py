"""From outputs and perturbations to minimal pairs: which places are changed, and how often."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.linguistics import Edit, apply_edits, joint_edits
from gnomon.methods.stress.perturbations import Crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.core.pairs import Pair
    from gnomon.methods.stress._outputs import OtherOutputs, Output
    from gnomon.methods.stress.perturbations import Change, Perturbation, Site


def make_pairs(
    perturbation: Perturbation,
    outputs: Sequence[Output],
    pool: OtherOutputs,
    pair_of: Callable[[Output, str, str, int], Pair],
    *,
    doses: Sequence[int] = (1,),
    limit: int | None = None,
    seed: int,
) -> list[Pair]:
    """Pairs of some outputs and what a perturbation makes of them, in the order of the outputs.

    Sentences are tried in an order that the seed and the name of the perturbation decide, so that
    the pairs of a smaller limit are among those of a larger one; texts that are no translation take
    the places of the same outputs, whatever they are. A dose is a number of places; the
    places of a smaller dose are among those of a larger one.

    Args:
        perturbation: what is done.
        outputs: the texts.
        pool: where words and sentences from elsewhere are taken.
        pair_of: makes a pair of an output, a better text, a worse one and a dose.
        doses: numbers of places, ascending.
        limit: the most sentences that are changed; None: all.
        seed: of the draws.
    """
    drawn_by = "sanity" if perturbation.kind == "sanity" else perturbation.name
    draws = np.random.default_rng((seed, crc32(drawn_by.encode())))
    order = draws.permutation(len(outputs)).tolist()
    pairs: dict[int, list[Pair]] = {}
    for number in order:
        if len(pairs) == limit:
            break
        output = outputs[number]
        rng = _draws(perturbation, output, seed)
        made = [
            pair_of(output, good, bad, dose)
            for good, bad, dose in _changed(perturbation, output, pool, rng, doses)
        ]
        if made:
            pairs[number] = made
    return [pair for number in sorted(pairs) for pair in pairs[number]]


def try_sites(
    perturbation: Perturbation, output: Output, pool: OtherOutputs, *, seed: int
) -> Counter[str]:
    """How many places a rule names in an output, and what becomes of each alone."""
    rng = _draws(perturbation, output, seed)
    counts = Counter(texts=1)
    text = output.text
    before: list[Site] = []
    for site in perturbation.sites(output, pool, rng) if text.strip() else ():
        both = _sides(site, perturbation) if perturbation.kind == "crossed" else (site,)
        equal = any(_applied(text, [side], perturbation) == text for side in both)
        counts["places"] += 1
        counts["equal"] += equal
        counts["overlapping"] += _meets(both[-1], before)
        counts["changed"] |= not equal
        before.append(both[-1])
    return counts


def _draws(perturbation: Perturbation, output: Output, seed: int) -> np.random.Generator:
    return np.random.default_rng((seed, crc32(perturbation.name.encode()), output.number))


def _changed(
    perturbation: Perturbation,
    output: Output,
    pool: OtherOutputs,
    rng: np.random.Generator,
    doses: Sequence[int],
) -> Iterator[tuple[str, str, int]]:
    """Better text, worse text and dose; only what differs from the output in that many places."""
    text = output.text
    if not text.strip():
        return
    sites = list(perturbation.sites(output, pool, rng))
    order = rng.permutation(len(sites)).tolist() if len(sites) > 1 else range(len(sites))
    if perturbation.kind == "crossed":
        for number in order:
            good, bad = (
                _applied(text, [side], perturbation) for side in _sides(sites[number], perturbation)
            )
            if len({text, good, bad}) == 3:
                yield good, bad, 1
                return
        return
    chosen: list[Site] = []
    bad = text
    for number in order:
        if _meets(sites[number], chosen):
            continue
        changed = _applied(text, [*chosen, sites[number]], perturbation)
        if changed == bad or (not changed.strip() and perturbation.kind != "sanity"):
            continue
        chosen.append(sites[number])
        bad = changed
        if len(chosen) in doses:
            yield text, bad, len(chosen)
        if len(chosen) >= doses[-1]:
            return


def _sides(site: Any, perturbation: Perturbation) -> tuple[Site, Site]:
    if not isinstance(site, Crossed):
        raise UsageError(
            f"the perturbation {perturbation.name!r} is of the kind 'crossed', and yields {site!r};"
            " it must yield Crossed(good, bad)"
        )
    return site.good, site.bad


def _changes(site: Site) -> Sequence[Change]:
    """The changes of a site, which may be one."""
    return [site] if site and isinstance(site[0], int) else site  # type: ignore[list-item,return-value]  # told apart by its first


def _meets(site: Site, chosen: Sequence[Site]) -> bool:
    others = [change for other in chosen for change in _changes(other)]
    return any(
        (start < there and here < end) or (start, end) == (here, there)
        for start, end, _ in _changes(site)
        for here, there, _ in others
    )


def _applied(text: str, sites: Sequence[Site], perturbation: Perturbation) -> str:
    changes = [change for site in sites for change in _changes(site)]
    if perturbation.exact:
        return apply_edits(text, [Edit(*change) for change in changes])
    return apply_edits(text, joint_edits(text, [Edit(*change) for change in changes]))
