"""Escapes for characters that would act on a terminal or reorder a line."""

from __future__ import annotations

import re

# C0 and C1 controls, bidi controls, line and paragraph separators, invisible format characters
# that no script needs, tag characters, lone surrogates
INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
#: nobody reads more of one cell, and laying out a cell of megabytes takes minutes
_MOST = 10_000
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str) -> str:
    r"""The text with control characters, escape sequences and bidi controls shown, not obeyed.

    Controls become ``\x1b``, the others ``<U+202E>``. Zero-width joiners stay: scripts need them.
    A text of more than 10,000 characters is cut, and says so: what is made visible is for people.

    >>> print(visible("a\x1b[31mb\u202ec\n"))
    a\x1b[31mb<U+202E>c\n
    """
    cut = f"... ({len(text):,} characters)" if len(text) > _MOST else ""
    return INVISIBLE.sub(_shown, text[:_MOST]) + cut


def visible_lines(text: str) -> str:
    r"""The same for a text of several lines, which stay lines.

    >>> print(visible_lines("a\x1b[31mb\n  c"))
    a\x1b[31mb
      c
    """
    return "\n".join(visible(line) for line in text.split("\n"))


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (rf"\x{code:02x}" if code < 0xA0 else f"<U+{code:04X}>")
