"""Spans of features in texts: spaCy pipelines, users' labels, word lists, patterns.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.linguistics._annotate import Annotation as Annotation
    from gnomon.linguistics._annotate import annotate as annotate
    from gnomon.linguistics._annotate import feature_faults as feature_faults
    from gnomon.linguistics._annotate import tagger_faults as tagger_faults
    from gnomon.linguistics._edits import FINAL_MARKS as FINAL_MARKS
    from gnomon.linguistics._edits import Edit as Edit
    from gnomon.linguistics._edits import FeatureWords as FeatureWords
    from gnomon.linguistics._edits import apply_edits as apply_edits
    from gnomon.linguistics._edits import begins_sentence as begins_sentence
    from gnomon.linguistics._edits import deletion as deletion
    from gnomon.linguistics._edits import exchange as exchange
    from gnomon.linguistics._edits import joint_edits as joint_edits
    from gnomon.linguistics._edits import replacement as replacement
    from gnomon.linguistics._options import TAGGER_NAME as TAGGER_NAME
    from gnomon.linguistics._options import Features as Features
    from gnomon.linguistics._options import FeatureSources as FeatureSources
    from gnomon.linguistics._options import LabelFiles as LabelFiles
    from gnomon.linguistics._options import OptionalTagger as OptionalTagger
    from gnomon.linguistics._options import Regexes as Regexes
    from gnomon.linguistics._options import Tagger as Tagger
    from gnomon.linguistics._options import WordLists as WordLists
    from gnomon.linguistics._options import read_labels as read_labels
    from gnomon.linguistics._options import select_features as select_features
    from gnomon.linguistics._tokens import Sentence as Sentence
    from gnomon.linguistics._tokens import Token as Token
    from gnomon.linguistics.annotators import Annotator as Annotator
    from gnomon.linguistics.annotators import SetupPlan as SetupPlan
    from gnomon.linguistics.annotators import describe as describe
    from gnomon.linguistics.annotators import describe_features as describe_features
    from gnomon.linguistics.annotators import describe_languages as describe_languages
    from gnomon.linguistics.annotators import describe_taggers as describe_taggers
    from gnomon.linguistics.annotators import find_tagger as find_tagger
    from gnomon.linguistics.annotators import register as register
    from gnomon.linguistics.annotators import run_setup as run_setup
    from gnomon.linguistics.annotators import setup_plan as setup_plan
    from gnomon.linguistics.annotators import standard_tagger as standard_tagger
    from gnomon.linguistics.annotators import taggers as taggers
    from gnomon.linguistics.dependencies import constituents as constituents
    from gnomon.linguistics.facts import Mark as Mark
    from gnomon.linguistics.feature_names import MEANINGS as MEANINGS
    from gnomon.linguistics.feature_names import gloss as gloss
    from gnomon.linguistics.label_names import Labels as Labels
    from gnomon.linguistics.own_taggers import load_own_tagger as load_own_tagger
    from gnomon.linguistics.parsers import find_parser as find_parser
    from gnomon.linguistics.parsers import parse as parse
    from gnomon.linguistics.parsers import standard_parser as standard_parser
    from gnomon.linguistics.spacy import SpacyAnnotator as SpacyAnnotator

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
