"""File formats: one segment per line, test set directories, tables, score files."""

from gnomon.formats._files import atomic_write, plain_name
from gnomon.formats._lines import read_lines, write_lines
from gnomon.formats._plain import read_plain
from gnomon.formats._testsets import language_pairs, read_test_set, write_test_set

__all__ = [
    "atomic_write",
    "language_pairs",
    "plain_name",
    "read_lines",
    "read_plain",
    "read_test_set",
    "write_lines",
    "write_test_set",
]
