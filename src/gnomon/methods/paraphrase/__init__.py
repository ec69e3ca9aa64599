"""Paraphrased references: make further references, and measure what they add.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports
from gnomon.methods.paraphrase import codes as codes

if TYPE_CHECKING:
    from gnomon.methods.paraphrase._adequacy import Filtered as Filtered
    from gnomon.methods.paraphrase._adequacy import closeness as closeness
    from gnomon.methods.paraphrase._adequacy import filtered as filtered
    from gnomon.methods.paraphrase._constraints import Constraint as Constraint
    from gnomon.methods.paraphrase._constraints import output_constraints as output_constraints
    from gnomon.methods.paraphrase._constraints import read_constraints as read_constraints
    from gnomon.methods.paraphrase._constraints import read_variants as read_variants
    from gnomon.methods.paraphrase._constraints import variant_constraints as variant_constraints
    from gnomon.methods.paraphrase._constraints import variant_paraphrases as variant_paraphrases
    from gnomon.methods.paraphrase._constraints import write_constraints as write_constraints
    from gnomon.methods.paraphrase._coverage import coverage as coverage
    from gnomon.methods.paraphrase._diversity import diversity as diversity
    from gnomon.methods.paraphrase._diversity import lexical_diversity as lexical_diversity
    from gnomon.methods.paraphrase._diversity import syntactic_diversity as syntactic_diversity
    from gnomon.methods.paraphrase._diversity import tree_similarity as tree_similarity
    from gnomon.methods.paraphrase._outputs import from_outputs as from_outputs
    from gnomon.methods.paraphrase._outputs import pseudo_references as pseudo_references
    from gnomon.methods.paraphrase._page import paraphrases_used as paraphrases_used
    from gnomon.methods.paraphrase._wordings import SYSTEMS as SYSTEMS
    from gnomon.methods.paraphrase._wordings import Parses as Parses
    from gnomon.methods.paraphrase._wordings import Wordings as Wordings
    from gnomon.methods.paraphrase._wordings import first_of as first_of
    from gnomon.methods.paraphrase._wordings import sets_of as sets_of
    from gnomon.methods.paraphrase._wordings import tree_sets as tree_sets
    from gnomon.methods.paraphrase._wordings import wordings_of as wordings_of
    from gnomon.methods.paraphrase.generation import describe_generators as describe_generators
    from gnomon.methods.paraphrase.generation import find_generator as find_generator
    from gnomon.methods.paraphrase.generation import generate as generate
    from gnomon.methods.paraphrase.generation import plan as plan
    from gnomon.methods.paraphrase.generation import save_generated as save_generated
    from gnomon.methods.paraphrase.training import train as train

__getattr__, __dir__, __all__ = lazy_exports(__name__)
