"""Texts with weighted words for a terminal: in colours, or between signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.tabular import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from gnomon.findings import Exhibit, ExhibitText, Finding, Highlight

__all__ = ["shaded"]

#: what hurts most to what helps most, as on pages; the neutral one has no colour
_STYLES = (
    "#ffffff on #833203",
    "#ffffff on #ad4505",
    "#111111 on #fba04c",
    "#111111 on #fdd6a7",
    "",
    "#111111 on #bcd7ee",
    "#111111 on #68a8d5",
    "#ffffff on #1a5c97",
    "#ffffff on #0b3f72",
)
_HURTS, _HELPS = 2, 6


def shaded(finding: Finding, *, colours: bool) -> Iterator[Text]:
    """Lines of the exhibits whose highlights have weights.

    Args:
        finding: what a method found.
        colours: colours can be seen; else what weighs most stands between signs.
    """
    for exhibit in finding.exhibits:
        marks = (mark for text in exhibit.texts for mark in text.highlights)
        if any(mark.weight is not None for mark in marks):
            yield from _lines(exhibit, colours=colours)


def _lines(exhibit: Exhibit, *, colours: bool) -> Iterator[Text]:
    from rich.text import Text

    yield Text(visible(f"Segment {exhibit.segment}: {exhibit.group}"), style="bold")
    for text in exhibit.texts:
        values = ", ".join(f"{name} {_number(value)}" for name, value in text.values.items())
        role = " ".join(filter(None, (text.role, text.name)))
        head = Text(visible(f"  {role}{f' ({values})' if values else ''}: "), style="dim")
        yield head + _shaded(text, colours=colours)
    if exhibit.caption:
        yield Text(visible(f"  {exhibit.caption}"), style="dim")
    yield Text()


def _shaded(text: ExhibitText, *, colours: bool) -> Text:
    from rich.text import Text

    made, at = Text(), 0
    for mark in text.highlights:
        made.append(visible(text.text[at : mark.start]), style="not dim")
        word, style = _word(visible(text.text[mark.start : mark.end]), mark, colours=colours)
        made.append(word, style=f"not dim {style}".strip())
        at = mark.end
    made.append(visible(text.text[at:]), style="not dim")
    return made


def _word(word: str, mark: Highlight, *, colours: bool) -> tuple[str, str]:
    step = mark.step
    if step is None:
        return word, "underline"
    word += "*" if mark.flagged else ""
    if colours:
        return word, f"{_STYLES[step]}{' underline' if mark.flagged else ''}"
    signed = f"[-{word}-]" if step <= _HURTS else f"{{+{word}+}}" if step >= _HELPS else word
    return signed, ""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
