"""Spans of features in texts: spaCy pipelines, users' labels, word lists, patterns."""

from gnomon.linguistics import scorers
from gnomon.linguistics._annotate import (
    Annotation,
    annotate,
    feature_faults,
    parser_faults,
    tagger_faults,
)
from gnomon.linguistics._edits import (
    FINAL_MARKS,
    Edit,
    FeatureWords,
    apply_edits,
    begins_sentence,
    deletion,
    exchange,
    joint_edits,
    replacement,
)
from gnomon.linguistics._options import (
    TAGGER_NAME,
    Features,
    FeatureSources,
    LabelFiles,
    OptionalTagger,
    Regexes,
    Tagger,
    WordLists,
    chosen_features,
    read_labels,
)
from gnomon.linguistics._tokens import Sentence, Token
from gnomon.linguistics.annotators import (
    Annotator,
    SetupPlan,
    describe,
    describe_features,
    describe_taggers,
    find_tagger,
    register,
    run_setup,
    setup_plan,
    standard_tagger,
    taggers,
)
from gnomon.linguistics.dependencies import constituents
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import MEANINGS, gloss
from gnomon.linguistics.label_names import Labels
from gnomon.linguistics.parsers import parse, standard_parser
from gnomon.linguistics.spacy import SpacyAnnotator

__all__ = [
    "FINAL_MARKS",
    "MEANINGS",
    "TAGGER_NAME",
    "Annotation",
    "Annotator",
    "Edit",
    "FeatureSources",
    "FeatureWords",
    "Features",
    "LabelFiles",
    "Labels",
    "Mark",
    "OptionalTagger",
    "Regexes",
    "Sentence",
    "SetupPlan",
    "SpacyAnnotator",
    "Tagger",
    "Token",
    "WordLists",
    "annotate",
    "apply_edits",
    "begins_sentence",
    "chosen_features",
    "constituents",
    "deletion",
    "describe",
    "describe_features",
    "describe_taggers",
    "exchange",
    "feature_faults",
    "find_tagger",
    "gloss",
    "joint_edits",
    "parse",
    "parser_faults",
    "read_labels",
    "register",
    "replacement",
    "run_setup",
    "scorers",
    "setup_plan",
    "standard_parser",
    "standard_tagger",
    "tagger_faults",
    "taggers",
]
