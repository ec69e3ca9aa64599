"""Paraphrased references: what further references change in a metric.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door
from gnomon.paraphrase import codes as codes

if TYPE_CHECKING:
    from gnomon.paraphrase._adequacy import Filtered as Filtered
    from gnomon.paraphrase._adequacy import SheetItem as SheetItem
    from gnomon.paraphrase._adequacy import adequacy as adequacy
    from gnomon.paraphrase._adequacy import adequacy_sheet as adequacy_sheet
    from gnomon.paraphrase._adequacy import closeness as closeness
    from gnomon.paraphrase._adequacy import filtered as filtered
    from gnomon.paraphrase._adequacy import judge as judge
    from gnomon.paraphrase._adequacy import read_key as read_key
    from gnomon.paraphrase._adequacy import write_key as write_key
    from gnomon.paraphrase._adequacy import write_sheet as write_sheet
    from gnomon.paraphrase._constraints import Constraint as Constraint
    from gnomon.paraphrase._constraints import constraint_finding as constraint_finding
    from gnomon.paraphrase._constraints import constraints as constraints
    from gnomon.paraphrase._constraints import output_constraints as output_constraints
    from gnomon.paraphrase._constraints import read_constraints as read_constraints
    from gnomon.paraphrase._constraints import read_variants as read_variants
    from gnomon.paraphrase._constraints import variant_constraints as variant_constraints
    from gnomon.paraphrase._constraints import variant_paraphrases as variant_paraphrases
    from gnomon.paraphrase._constraints import write_constraints as write_constraints
    from gnomon.paraphrase._coverage import coverage as coverage
    from gnomon.paraphrase._diversity import MEASURES as MEASURES
    from gnomon.paraphrase._diversity import diversity as diversity
    from gnomon.paraphrase._diversity import lexical_diversity as lexical_diversity
    from gnomon.paraphrase._diversity import syntactic_diversity as syntactic_diversity
    from gnomon.paraphrase._diversity import tree_similarity as tree_similarity
    from gnomon.paraphrase._half_splits import from_outputs as from_outputs
    from gnomon.paraphrase._half_splits import half_splits as half_splits
    from gnomon.paraphrase._translations import pseudo_references as pseudo_references
    from gnomon.paraphrase._translations import round_trip as round_trip
    from gnomon.paraphrase._translations import translate as translate
    from gnomon.paraphrase._wordings import SYSTEMS as SYSTEMS
    from gnomon.paraphrase._wordings import Parses as Parses
    from gnomon.paraphrase._wordings import Wordings as Wordings
    from gnomon.paraphrase._wordings import first_of as first_of
    from gnomon.paraphrase._wordings import sets_of as sets_of
    from gnomon.paraphrase._wordings import tree_sets as tree_sets
    from gnomon.paraphrase._wordings import wordings_of as wordings_of
    from gnomon.paraphrase.codes import tree_stats as tree_stats
    from gnomon.paraphrase.gains import gain as gain
    from gnomon.paraphrase.gains import paraphrases_used as paraphrases_used
    from gnomon.paraphrase.gains import show as show
    from gnomon.paraphrase.generation import ConstrainedBy as ConstrainedBy
    from gnomon.paraphrase.generation import describe_generators as describe_generators
    from gnomon.paraphrase.generation import find_generator as find_generator
    from gnomon.paraphrase.generation import generate as generate
    from gnomon.paraphrase.generation import plan as plan
    from gnomon.paraphrase.generation import save_generated as save_generated
    from gnomon.paraphrase.training import train as train

__getattr__, __dir__, __all__ = door(__name__)
callable_room(__name__, "gain")
