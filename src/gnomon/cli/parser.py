"""Argument parser that takes negative numbers as values and reports errors in one line.

Its help fits two screens: options that few need, and what is said of others after their first
clause, stand in ``--help-all``.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import textwrap
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn

from rich_argparse import RawDescriptionRichHelpFormatter

from gnomon.core.errors import UnknownNameError, UsageError, nearest
from gnomon.core.options import MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["CallRefused", "HelpFormatter", "Parser", "rare"]

_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-inf(inity)?", re.IGNORECASE)
#: what is no option of one letter with its value
_WORD_AFTER_DASH = re.compile(r"-[a-zA-Z]{2}")
#: what argparse says, and what is meant
_PLAINLY = (
    (r"^argument ", ""),
    (r"^(the following arguments are required|one of the arguments): ?", "missing: "),
    (r"expected one argument$", "it takes a value, and none is given"),
    (r"expected at least one argument$", "it takes one value or more, and none is given"),
    (r"expected (\d+) arguments$", r"it takes \1 values"),
    (r"ignored explicit argument (.*)$", r"it takes no value; got \1"),
    (r"not allowed with argument ", "it cannot go with "),
)


#: where a text that help shows in part goes on: a further clause or sentence
_CLAUSE = re.compile(r"(?<=[^.\s]{2})(; |\. (?=[A-Z\"]))")
#: clauses that help always shows
_ALWAYS = re.compile(r"by default", re.IGNORECASE)
#: examples that help shows
_EXAMPLES = 3
#: a word of a shell, quotes and all
_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\S)+")
_WIDTH = 80
_ALL = "--help-all"
#: the heading of commands that belong to no other
_OTHERS = "further commands"


class CallRefused(SystemExit):
    """A call that its command does not take, which was said on standard error.

    Args:
        command: the command, with the program's name.
        said: what is wrong with it.
    """

    def __init__(self, command: str, said: str) -> None:
        super().__init__(UsageError.exit_code)
        self.command, self.error = command, UsageError(said)


class HelpFormatter(RawDescriptionRichHelpFormatter):
    """Headings as sentences begin, and lists as NAME ..., which is as wide as it says."""

    text_markup = help_markup = False  # [extra] is an extra
    group_name_formatter = staticmethod(lambda title: f"{title[:1].upper()}{title[1:]}")  # type: ignore[assignment]  # declared as one without a title

    def _rich_metavar_parts(
        self, action: argparse.Action, default_metavar: str
    ) -> Iterator[tuple[str, bool]]:
        if action.nargs != argparse.ONE_OR_MORE:
            yield from super()._rich_metavar_parts(action, default_metavar)
            return
        yield self._metavar_formatter(action, default_metavar)(1)[0], True
        yield " ...", False


def rare(action: argparse.Action) -> argparse.Action:
    """Mark an option that few need: ``--help-all`` tells of it, ``--help`` does not."""
    action.rare = True  # type: ignore[attr-defined]  # argparse has no place for it
    return action


class _HelpAll(argparse.Action):
    """Prints help with every option, and all that is said of each."""

    def __init__(self, option_strings: Sequence[str], **more: Any) -> None:
        super().__init__(option_strings, **(more | {"dest": argparse.SUPPRESS, "nargs": 0}))

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print it and end."""
        assert isinstance(parser, Parser)  # noqa: S101  # it is what adds this action
        sys.stdout.write(parser.format_help(full=True))
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse's, which reads -inf as an option -i with the value nf, and -1e3 as unknown."""

    def __init__(
        self, *args: Any, build: Callable[[Parser], None] | None = None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._build = build
        self._further: Any = None
        self.set_defaults(command=self.prog)
        #: headings under which help lists commands; others stand under a last one
        self.groups: Mapping[str, Sequence[str]] = {}
        self._positionals.title, self._optionals.title = "arguments", "this command"
        self.add_argument(_ALL, action=_HelpAll, help=argparse.SUPPRESS)  # the last line tells

    def add_further(self, **options: Any) -> Any:  # argparse gives the type no public name
        """Commands beside what the command itself does: its first word may name one of them."""
        self._further = self.add_subparsers(required=False, **options)
        return self._further

    def _get_positional_actions(self) -> list[argparse.Action]:
        actions: list[argparse.Action] = super()._get_positional_actions()
        return [action for action in actions if action is not self._further]

    def add_subparsers(self, **options: Any) -> Any:
        """Add commands; argparse would lay out the help to know what comes before their names."""
        return super().add_subparsers(**({"prog": self.prog} | options))

    def built(self) -> Parser:
        """With its arguments."""
        if self._build is not None:
            build, self._build = self._build, None
            build(self)
        return self

    def format_help(self, *, full: bool = False) -> str:
        """Its help."""
        self.built()
        usage, epilog, groups = self.usage, self.epilog, self._action_groups
        description = self.description
        if description:
            self.description = textwrap.fill(description.replace("%(prog)s", self.prog), _WIDTH)
        self.usage = usage or self._briefly_used()
        self.epilog = _folded(epilog if full else _first_examples(epilog))
        # what is said of all commands comes last
        self._action_groups = sorted(
            self._grouped() if self.groups else groups, key=lambda group: group is self._optionals
        )
        try:
            if full:
                return super().format_help()
            with self._shortened() as more:
                said = super().format_help()
                return f"{said}\n{more}: {self.prog} {_ALL}\n" if more else said
        finally:
            self.usage, self.epilog, self._action_groups = usage, epilog, groups
            self.description = description

    def _grouped(self) -> Iterator[argparse._ArgumentGroup]:
        """The groups of help, where commands stand under the headings that they belong to."""
        for group in self._action_groups:
            if group is not self._subparsers:
                yield group
                continue
            (commands,) = group._group_actions  # noqa: SLF001  # argparse has no name for it
            left = {command.dest: command for command in commands._get_subactions()}  # type: ignore[attr-defined]  # noqa: SLF001  # likewise
            for title, words in self.groups.items():
                yield self._help_group(title, [left.pop(word) for word in words if word in left])
            if left:
                yield self._help_group(_OTHERS, left.values())

    def _help_group(
        self, title: str, commands: Iterable[argparse.Action]
    ) -> argparse._ArgumentGroup:
        group = argparse._ArgumentGroup(self, title)  # noqa: SLF001  # only these are shown
        group._group_actions = list(commands)  # noqa: SLF001
        return group

    @contextmanager
    def _shortened(self) -> Iterator[str]:
        """Help without rare options, and of each other one its first clause; what is left out."""
        before = [(action, action.help) for action in self._actions]
        hidden, cut = 0, False
        for action, text in before:
            if getattr(action, "rare", False):
                action.help = argparse.SUPPRESS
                hidden += 1
            elif text and action.option_strings:
                action.help = _first_clause(text)
                cut = cut or action.help != text
        left = [f"{hidden} more options"] * (hidden > 1) + ["another option"] * (hidden == 1)
        left += ["more about these"] * cut
        try:
            yield f"{' and '.join(left).capitalize()}"
        finally:
            for action, text in before:
                action.help = text

    def _briefly_used(self) -> str:
        """Usage of the required arguments; the rest stands below."""
        must = [
            argument
            for argument in self._actions
            if argument.required or not argument.option_strings
        ]
        said = ["%(prog)s"]
        for argument in sorted(must, key=lambda argument: not argument.option_strings):
            name = argument.metavar if isinstance(argument.metavar, str) else argument.dest.upper()
            if argument.nargs == argparse.PARSER:
                said.append(f"{name} ...")
                continue
            flag = [argument.option_strings[-1]] if argument.option_strings else []
            several = [] if argument.nargs in (None, argparse.OPTIONAL) else ["..."]
            shown = " ".join((*flag, name, *several))
            # argparse calls a list that may be empty required
            needed = argument.required and argument.nargs != argparse.ZERO_OR_MORE
            said.append(shown if needed else f"[{shown}]")
        if any(argument.option_strings and not argument.required for argument in self._actions):
            said.insert(1, "[OPTIONS]")
        return " ".join(said)

    def _parse_optional(self, arg_string: str) -> Any:
        if _NEGATIVE.fullmatch(arg_string):
            return None  # a value
        return super()._parse_optional(arg_string)

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """Options that a text which is none itself may stand for: ``-j4`` for ``-j 4``.

        argparse takes ``-tok`` for ``-t ok``, whatever was meant.
        """
        if _WORD_AFTER_DASH.match(option_string):
            return []
        return super()._get_option_tuples(option_string)

    def parse_known_args(  # type: ignore[override]  # argparse has overloads for namespaces
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse; what is unknown is refused by the parser that knows its neighbours."""
        self.built()
        if self._further is not None and args and args[0] in self._further.choices:
            inner: Parser = self._further.choices[args[0]]
            return inner.parse_known_args(args[1:], namespace)
        values, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return values, unknown

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in a line, not how everything is used."""
        # argparse tells in words alone which arguments it lacks, and all else
        lacking = re.match(r"the following arguments are required: (.*)", message)
        example = self._example_with(lacking[1].split(", ")) if lacking else ""
        for said, meant in _PLAINLY:
            message = re.sub(said, meant, message)
        message += f"; as in: {example}" if example else ""
        message += f"; see: {self.prog} --help"
        self._print_message(f"gnomon: error: {message}\n", sys.stderr)
        raise CallRefused(self.prog, message)

    def _example_with(self, names: Sequence[str]) -> str:
        """The first example of help that has these options; empty where none has."""
        for line in (self.epilog or "").splitlines():
            words = _WORD.findall(line.strip().split("   ")[0])
            if words[:1] == ["gnomon"] and all(set(name.split("/")) & set(words) for name in names):
                return " ".join(words)
        return ""

    def _unknown(self, given: str) -> str:
        if not given.startswith("-"):
            return f"{given!r} is one value too many"
        names = [name for action in self._actions for name in action.option_strings]
        name = given.partition("=")[0]
        near = nearest(name, names) if name.startswith("--") or name.lower() in names else ""
        if not near and _WORD_AFTER_DASH.match(name):
            short = self._option_string_actions.get(name[:2])
            apart = f"{name[:2]} {given[2:]}" if short is not None and short.nargs != 0 else ""
            near = next((long for long in names if long.startswith(f"-{name}")), apart)
        return f"unknown option {given}" + (f"; did you mean {near}?" if near else "")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        if action.type not in (int, float):
            return super()._get_value(action, arg_string)
        try:
            value = int(arg_string) if action.type is int else float(arg_string)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            kind = "a whole number" if action.type is int else "a number"
            raise argparse.ArgumentError(action, f"{arg_string!r} is not {kind}")
        if action.dest == "seed" and value < 0:
            raise argparse.ArgumentError(action, f"a seed is 0 or more; got {arg_string}")
        if action.type is int and action.dest != "seed" and abs(value) > MOST:
            raise argparse.ArgumentError(action, f"{arg_string} is more than {MOST:,} either way")
        return value

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        kind = "value" if action.option_strings else (action.metavar or action.dest)
        error = UnknownNameError(str(kind).lower(), str(value), map(str, action.choices))
        raise argparse.ArgumentError(action if action.option_strings else None, str(error))


def _first_clause(text: str) -> str:
    """The first thing that is said of an option, and its default."""
    first, *rest = _CLAUSE.split(text)
    while rest and _open(first) > 0:  # a sign in brackets ends no clause
        first, rest = "".join((first, *rest[:2])), rest[2:]
    kept = [
        sign + clause
        for sign, clause in zip(rest[::2], rest[1::2], strict=True)
        if _ALWAYS.match(clause)
    ]
    default = re.search(r" \(default: [^()]*\)$", text)
    shown = "".join((first, *kept)).rstrip(".")
    if " (default: " in shown:
        return shown
    return shown if default is None or shown.endswith(default[0]) else shown + default[0]


def _open(text: str) -> int:
    """Number of open brackets of a text; intervals such as (0, 1] are closed."""
    return sum((character in "([") - (character in ")]") for character in text)


def _first_examples(text: str | None) -> str | None:
    """The first examples, and all that is no example."""
    if text is None:
        return None
    kept, count = [], 0
    within = False
    for line in text.splitlines():
        count += line.startswith("  gnomon ")
        # an example goes on in the lines that are set in further
        within = line.startswith("  gnomon ") or (within and line.startswith("    "))
        if count <= _EXAMPLES or not within:
            kept.append(line)
    return "\n".join(kept)


def _folded(text: str | None) -> str | None:
    """As a terminal of usual width shows it whole: long examples go on after a backslash."""
    if text is None:
        return None
    blocks = []
    for prose, lines in groupby(text.splitlines(), lambda one: bool(one) and one[0] != " "):
        block = list(lines)
        if prose and not block[0].endswith(":"):
            blocks.append(textwrap.fill(" ".join(block), _WIDTH))
        else:
            blocks += map(_folded_line, block)
    return "\n".join(blocks)


def _folded_line(line: str) -> str:
    if len(line) <= _WIDTH:
        return line
    if not line.startswith("  gnomon "):  # a name, and what it is
        name = re.match(r"\s+\S+\s{2,}", line)
        inner = len(name[0]) if name else len(line) - len(line.lstrip())
        return textwrap.fill(line, _WIDTH, subsequent_indent=" " * inner)
    lines, current = [], " "
    for word in _WORD.findall(line):
        if len(current) + len(word) > _WIDTH - 3 and current.strip():
            lines.append(current)
            current = "     "
        current += f" {word}"
    return " \\\n".join((*lines, current))
