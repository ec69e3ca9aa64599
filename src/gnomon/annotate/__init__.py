"""Spans of features in texts: spaCy pipelines, users' labels, word lists, patterns."""

from gnomon.annotate._annotate import Annotation, annotate
from gnomon.annotate._check import feature_faults, parser_faults, tagger_faults
from gnomon.annotate._constituents import constituents
from gnomon.annotate._describe import describe_features, describe_taggers
from gnomon.annotate._facts import Mark
from gnomon.annotate._labels import Labels
from gnomon.annotate._parse import parse
from gnomon.annotate._parsers import standard_parser
from gnomon.annotate._protocol import Annotator, describe, register, taggers
from gnomon.annotate._setup import SetupPlan, run_setup, setup_plan
from gnomon.annotate._spacy import SpacyAnnotator

__all__ = [
    "Annotation",
    "Annotator",
    "Labels",
    "Mark",
    "SetupPlan",
    "SpacyAnnotator",
    "annotate",
    "constituents",
    "describe",
    "describe_features",
    "describe_taggers",
    "feature_faults",
    "parse",
    "parser_faults",
    "register",
    "run_setup",
    "setup_plan",
    "standard_parser",
    "tagger_faults",
    "taggers",
]
