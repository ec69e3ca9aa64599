"""A parser that takes every number as a value: -inf and -1e3, too."""

from __future__ import annotations

import argparse
import re
from typing import Any

__all__ = ["Parser"]

_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-inf(inity)?", re.IGNORECASE)


class Parser(argparse.ArgumentParser):
    """argparse's, which reads -inf as an option -i with the value nf, and -1e3 as unknown."""

    def _parse_optional(self, arg_string: str) -> Any:
        if _NEGATIVE.fullmatch(arg_string):
            return None  # a value
        return super()._parse_optional(arg_string)
