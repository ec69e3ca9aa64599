"""File formats: one segment per line, test set directories, tables, score files."""

from gnomon.formats._files import atomic_write, plain_name
from gnomon.formats._lines import read_lines, write_lines
from gnomon.formats._plain import read_plain, read_systems
from gnomon.formats._registry import FormatInfo, describe
from gnomon.formats._sacrebleu import is_sacrebleu_set, read_sacrebleu_set
from gnomon.formats._scores import write_segment_scores, write_system_scores
from gnomon.formats._scores_read import read_scores
from gnomon.formats._table import read_table
from gnomon.formats._testsets import language_pairs, read_test_set, write_test_set

__all__ = [
    "FormatInfo",
    "atomic_write",
    "describe",
    "is_sacrebleu_set",
    "language_pairs",
    "plain_name",
    "read_lines",
    "read_plain",
    "read_sacrebleu_set",
    "read_scores",
    "read_systems",
    "read_table",
    "read_test_set",
    "write_lines",
    "write_segment_scores",
    "write_system_scores",
    "write_test_set",
]
