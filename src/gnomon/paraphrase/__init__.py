"""Paraphrased references: generate further references, and measure their effect.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports
from gnomon.paraphrase import codes as codes

if TYPE_CHECKING:
    from gnomon.paraphrase._constraints import Constraint as Constraint
    from gnomon.paraphrase._constraints import output_constraints as output_constraints
    from gnomon.paraphrase._constraints import read_constraints as read_constraints
    from gnomon.paraphrase._constraints import read_variants as read_variants
    from gnomon.paraphrase._constraints import variant_constraints as variant_constraints
    from gnomon.paraphrase._constraints import variant_paraphrases as variant_paraphrases
    from gnomon.paraphrase._constraints import write_constraints as write_constraints
    from gnomon.paraphrase._coverage import coverage as coverage
    from gnomon.paraphrase._diversity import diversity as diversity
    from gnomon.paraphrase._outputs import pseudo_references as pseudo_references
    from gnomon.paraphrase._outputs import select_outputs as select_outputs
    from gnomon.paraphrase._wordings import SYSTEMS as SYSTEMS
    from gnomon.paraphrase._wordings import Parses as Parses
    from gnomon.paraphrase._wordings import Wordings as Wordings
    from gnomon.paraphrase._wordings import first_of as first_of
    from gnomon.paraphrase._wordings import sets_of as sets_of
    from gnomon.paraphrase._wordings import tree_sets as tree_sets
    from gnomon.paraphrase._wordings import wordings_of as wordings_of
    from gnomon.paraphrase.adequacy import Filtered as Filtered
    from gnomon.paraphrase.adequacy import closeness as closeness
    from gnomon.paraphrase.adequacy import filtered as filtered
    from gnomon.paraphrase.generation import describe_generators as describe_generators
    from gnomon.paraphrase.generation import find_generator as find_generator
    from gnomon.paraphrase.generation import generate as generate
    from gnomon.paraphrase.generation import plan as plan
    from gnomon.paraphrase.generation import save_generated as save_generated
    from gnomon.paraphrase.page import paraphrases_used as paraphrases_used
    from gnomon.paraphrase.set_diversity import lexical_diversity as lexical_diversity
    from gnomon.paraphrase.set_diversity import syntactic_diversity as syntactic_diversity
    from gnomon.paraphrase.training import train as train
    from gnomon.paraphrase.tree_kernels import tree_similarity as tree_similarity

__getattr__, __dir__, __all__ = lazy_exports(__name__)
