"""Paraphrased references: measure how different they are, make them, score with them.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import door

if TYPE_CHECKING:
    from gnomon.paraphrase._adequacy import adequacy as adequacy
    from gnomon.paraphrase._adequacy import closeness as closeness
    from gnomon.paraphrase._constraint_table import constraint_finding as constraint_finding
    from gnomon.paraphrase._constraint_table import read_constraints as read_constraints
    from gnomon.paraphrase._constraint_table import write_constraints as write_constraints
    from gnomon.paraphrase._constraints import Constraint as Constraint
    from gnomon.paraphrase._constraints import constraints as constraints
    from gnomon.paraphrase._coverage import coverage as coverage
    from gnomon.paraphrase._diversity import MEASURES as MEASURES
    from gnomon.paraphrase._diversity import diversity as diversity
    from gnomon.paraphrase._filters import Filtered as Filtered
    from gnomon.paraphrase._filters import filtered as filtered
    from gnomon.paraphrase._half_splits import from_outputs as from_outputs
    from gnomon.paraphrase._half_splits import half_splits as half_splits
    from gnomon.paraphrase._lexical import lexical_diversity as lexical_diversity
    from gnomon.paraphrase._pseudo import pseudo_references as pseudo_references
    from gnomon.paraphrase._round_trip import round_trip as round_trip
    from gnomon.paraphrase._round_trip import translate as translate
    from gnomon.paraphrase._sets import SYSTEMS as SYSTEMS
    from gnomon.paraphrase._sets import Wordings as Wordings
    from gnomon.paraphrase._sets import first_of as first_of
    from gnomon.paraphrase._sets import sets_of as sets_of
    from gnomon.paraphrase._sets import tree_sets as tree_sets
    from gnomon.paraphrase._sets import wordings_of as wordings_of
    from gnomon.paraphrase._sheet import SheetItem as SheetItem
    from gnomon.paraphrase._sheet import adequacy_sheet as adequacy_sheet
    from gnomon.paraphrase._sheet import judge_adequacy as judge_adequacy
    from gnomon.paraphrase._sheet import read_key as read_key
    from gnomon.paraphrase._sheet import write_key as write_key
    from gnomon.paraphrase._sheet import write_sheet as write_sheet
    from gnomon.paraphrase._syntactic import syntactic_diversity as syntactic_diversity
    from gnomon.paraphrase._tree_kernel import tree_similarity as tree_similarity
    from gnomon.paraphrase._variants import read_variants as read_variants
    from gnomon.paraphrase._variants import variant_constraints as variant_constraints
    from gnomon.paraphrase._variants import variant_paraphrases as variant_paraphrases
    from gnomon.paraphrase.gains import gain as gain
    from gnomon.paraphrase.gains import paraphrases_used as paraphrases_used
    from gnomon.paraphrase.gains import side_by_side as side_by_side
    from gnomon.paraphrase.generation import ConstrainedBy as ConstrainedBy
    from gnomon.paraphrase.generation import GenerationOptions as GenerationOptions
    from gnomon.paraphrase.generation import generate as generate
    from gnomon.paraphrase.generation import plan as plan
    from gnomon.paraphrase.generation import save_generated as save_generated

_HOMES = {
    "MEASURES": "_diversity",
    "SYSTEMS": "_sets",
    "ConstrainedBy": "generation",
    "Constraint": "_constraints",
    "Filtered": "_filters",
    "GenerationOptions": "generation",
    "SheetItem": "_sheet",
    "Wordings": "_sets",
    "adequacy": "_adequacy",
    "adequacy_sheet": "_sheet",
    "closeness": "_adequacy",
    "constraint_finding": "_constraint_table",
    "constraints": "_constraints",
    "coverage": "_coverage",
    "diversity": "_diversity",
    "filtered": "_filters",
    "first_of": "_sets",
    "from_outputs": "_half_splits",
    "gain": "gains",
    "generate": "generation",
    "half_splits": "_half_splits",
    "judge_adequacy": "_sheet",
    "lexical_diversity": "_lexical",
    "plan": "generation",
    "paraphrases_used": "gains",
    "pseudo_references": "_pseudo",
    "read_constraints": "_constraint_table",
    "read_key": "_sheet",
    "read_variants": "_variants",
    "round_trip": "_round_trip",
    "save_generated": "generation",
    "sets_of": "_sets",
    "side_by_side": "gains",
    "syntactic_diversity": "_syntactic",
    "translate": "_round_trip",
    "tree_sets": "_sets",
    "tree_similarity": "_tree_kernel",
    "variant_constraints": "_variants",
    "variant_paraphrases": "_variants",
    "wordings_of": "_sets",
    "write_constraints": "_constraint_table",
    "write_key": "_sheet",
    "write_sheet": "_sheet",
}

__all__ = [
    "MEASURES",
    "SYSTEMS",
    "ConstrainedBy",
    "Constraint",
    "Filtered",
    "GenerationOptions",
    "SheetItem",
    "Wordings",
    "adequacy",
    "adequacy_sheet",
    "closeness",
    "constraint_finding",
    "constraints",
    "coverage",
    "diversity",
    "filtered",
    "first_of",
    "from_outputs",
    "gain",
    "generate",
    "half_splits",
    "judge_adequacy",
    "lexical_diversity",
    "plan",
    "pseudo_references",
    "read_constraints",
    "read_key",
    "read_variants",
    "round_trip",
    "save_generated",
    "sets_of",
    "side_by_side",
    "syntactic_diversity",
    "translate",
    "tree_sets",
    "tree_similarity",
    "variant_constraints",
    "variant_paraphrases",
    "wordings_of",
    "write_constraints",
    "write_key",
    "write_sheet",
]


__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
