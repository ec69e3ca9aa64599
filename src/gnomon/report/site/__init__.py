"""The report of a study: pages for systems, features, words, references, people, provenance.

It reads plain tables and texts (:class:`Content`), not stores. Everything public is listed in
``__all__``.
"""

from gnomon.report.site._content import (
    Content,
    SegmentContent,
    SetContent,
    TableContent,
    TextContent,
)
from gnomon.report.site._sinks import check_place
from gnomon.report.site._write import write_site

__all__ = [
    "Content",
    "SegmentContent",
    "SetContent",
    "TableContent",
    "TextContent",
    "check_place",
    "write_site",
]
