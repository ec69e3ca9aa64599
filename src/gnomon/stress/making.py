"""Minimal pairs from outputs and perturbations: choice and number of changed places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.linguistics import Edit, apply_edits, joint_edits
from gnomon.stress.perturbations import Crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.minimal_pairs import Pair
    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Perturbation, Site

__all__ = ["make_pairs"]


def make_pairs(
    perturbation: Perturbation,
    outputs: Sequence[Output],
    pool: OtherOutputs,
    pair_of: Callable[[Output, str, str], Pair],
    *,
    limit: int | None = None,
    seed: int,
) -> list[Pair]:
    """Pairs of some outputs and what a perturbation makes of them, in the order of the outputs.

    Sentences are tried in an order that the seed and the name of the perturbation decide, so that
    the pairs of a smaller limit are among those of a larger one; texts that are no translation take
    the places of the same outputs, whatever they are.

    Args:
        perturbation: what is done.
        outputs: the texts.
        pool: where words and sentences from elsewhere are taken.
        pair_of: makes a pair of an output, a better text and a worse one.
        limit: the most sentences that are changed; None: all.
        seed: of the draws.
    """
    drawn_by = "sanity" if perturbation.kind == "sanity" else perturbation.name
    draws = np.random.default_rng((seed, crc32(drawn_by.encode())))
    pairs: dict[int, Pair] = {}
    for number in draws.permutation(len(outputs)).tolist():
        if len(pairs) == limit:
            break
        changed = _change_text(perturbation, outputs[number], pool, seed)
        if changed is not None:
            pairs[number] = pair_of(outputs[number], *changed)
    return [pairs[number] for number in sorted(pairs)]


def _change_text(
    perturbation: Perturbation, output: Output, pool: OtherOutputs, seed: int
) -> tuple[str, str] | None:
    """Better and worse text, changed at the first place drawn where the text becomes another."""
    text = output.text
    if not text.strip():
        return None
    rng = np.random.default_rng((seed, crc32(perturbation.name.encode()), output.number))
    sites = list(perturbation.sites(output, pool, rng))
    order = rng.permutation(len(sites)).tolist() if len(sites) > 1 else range(len(sites))
    for number in order:
        if perturbation.kind == "crossed":
            sides = _sides(sites[number], perturbation)
            good, bad = (_apply_site(text, side, perturbation) for side in sides)
            if len({text, good, bad}) == 3:
                return good, bad
        else:
            bad = _apply_site(text, sites[number], perturbation)
            if bad != text and (bad.strip() or perturbation.kind == "sanity"):
                return text, bad
    return None


def _sides(site: Any, perturbation: Perturbation) -> tuple[Site, Site]:
    if not isinstance(site, Crossed):
        raise UsageError(
            f"the perturbation {perturbation.name!r} is of the kind 'crossed', and yields {site!r};"
            " it must yield Crossed(good, bad)"
        )
    return site.good, site.bad


def _apply_site(text: str, site: Site, perturbation: Perturbation) -> str:
    changes = [site] if site and isinstance(site[0], int) else site
    edits = [Edit(*change) for change in changes]  # type: ignore[misc]  # one change, or several
    return apply_edits(text, edits if perturbation.exact else joint_edits(text, edits))
