"""A form for comparing outputs two at a time, or scoring single ones: one HTML file.

It opens by double click, loads nothing and sends nothing. Answers stay in the browser's own storage
until they are saved to a file (TSV, or JSON to go on elsewhere), which is all that leaves the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.report.html import framed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.core.findings import Exhibit

__all__ = ["render_form"]


def render_form(
    items: Mapping[str, Exhibit],
    *,
    study: str,
    question: str,
    title: str = "Judging outputs",
) -> str:
    """The form, as a page."""
    content = {
        "study": study,
        "items": [
            {
                "item": name,
                "feature": exhibit.group,
                "texts": [
                    [text.role, text.name, text.text, [[m.start, m.end] for m in text.highlights]]
                    for text in exhibit.texts
                ],
            }
            for name, exhibit in items.items()
        ],
        "strings": [],
    }
    return framed(
        "sheet.html.j2",
        content,
        scripts=("text.js", "sheet.js"),
        styles=("report.css", "sheet.css"),
        title=title,
        question=question,
    )
