"""Spans of features in texts: spaCy pipelines, users' labels, word lists, patterns."""

from gnomon.annotate._annotate import Annotation, annotate
from gnomon.annotate._facts import Mark
from gnomon.annotate._protocol import Annotator, describe, register, taggers

__all__ = ["Annotation", "Annotator", "Mark", "annotate", "describe", "register", "taggers"]
