"""Findings and scores for people and programs: terminal, JSON, TSV, LaTeX, Markdown, Excel, HTML.

Reports know tables, views and exhibits (:mod:`gnomon.core.findings`), and no method by name.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.report.excel import to_xlsx as to_xlsx
    from gnomon.report.excel import write_xlsx as write_xlsx
    from gnomon.report.gates import gate_summary as gate_summary
    from gnomon.report.gates import to_junit as to_junit
    from gnomon.report.html import to_html as to_html
    from gnomon.report.html import write_html as write_html
    from gnomon.report.rendering import envelope as envelope
    from gnomon.report.rendering import render as render
    from gnomon.report.rendering import render_rows as render_rows
    from gnomon.report.rendering import render_segments as render_segments
    from gnomon.report.rendering import scores_finding as scores_finding
    from gnomon.report.terminal import print_finding as print_finding
    from gnomon.report.terminal import print_grid as print_grid
    from gnomon.report.terminal import print_scores as print_scores
    from gnomon.report.terminal import print_verdict as print_verdict

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
