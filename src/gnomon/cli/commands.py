"""Commands of methods: parsers made of the parameters, runs with the given options."""

from __future__ import annotations

import argparse
import os
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli import _options, _requests
from gnomon.cli.parser import HelpFormatter, rare
from gnomon.cli.progress import stages
from gnomon.core import registry as methods
from gnomon.core.errors import GateError, GnomonError, UsageError
from gnomon.core.options import (
    Flags,
    Group,
    InputFile,
    Metavar,
    Shorthand,
    Specs,
    is_outcome,
    read_pair,
    read_text,
)
from gnomon.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence

    from gnomon.cli.parser import Parser
    from gnomon.core.findings import Finding
    from gnomon.core.options import Option
    from gnomon.core.registry import Method
    from gnomon.core.scores import Scores

__all__ = ["add_commands", "add_group", "add_method", "build"]

#: options that stand among the metrics of every command
_METRICS = "metrics"
#: methods whose commands take options of sacreBLEU's command, and scores that come with outputs
_AS_SACREBLEU = ("score", "compare")
#: the heading of help under which results and their files stand
_OUTPUT = "output"
#: the heading of those that say none
_OWN = "analysis"
#: rows of a table that text shows
_ROWS = 20
#: the longest list of choices that stands where a value's name would; others stand in the text
_LONGEST = 44


def add_method(commands: Any, name: str) -> None:  # argparse gives the type no public name
    """Add the command of a method; what it takes is looked up when the command is used."""
    purpose = methods.purpose_of(name)

    def built(parser: Parser) -> None:
        build(parser, methods.find(name))
        if any(other.startswith(f"{name}.") for other in methods.names()):
            add_commands(parser.add_further(title="commands", metavar="COMMAND"), f"{name}.")

    commands.add_parser(
        name.rpartition(".")[2].replace("_", "-"),
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
        build=built,
    )


def add_commands(commands: Any, prefix: str = "", *, done: Container[str] = ()) -> None:
    """Add the commands of methods, and one command for those whose names go on after a dot."""
    heads: dict[str, None] = {}
    for name in methods.names():
        if name.startswith(prefix):
            heads[prefix + name.removeprefix(prefix).partition(".")[0]] = None
    for head in heads:
        if head in done:
            continue
        if head in methods.names():
            add_method(commands, head)
        else:
            add_group(commands, head)


def add_group(commands: Any, group: str) -> None:
    """Add the command of a group of methods; these are looked up when it is used."""
    purpose = methods.group_purpose(group)
    commands.add_parser(
        group.rpartition(".")[2].replace("_", "-"),
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
        build=lambda parser: add_commands(
            parser.add_subparsers(title="commands", metavar="COMMAND", required=True), f"{group}."
        ),
    )


def build(parser: Parser, method: Method) -> None:
    """Give the parser of a method's command all that the method takes."""
    parser.epilog = method.examples or None
    _options.add_run(parser)
    if method.recipe:
        from gnomon.cli._recipe import add_recipe

        add_recipe(parser, method)
    if method.given != "nothing":
        several = method.given == "testsets" or callable(method.given)
        # those that need paraphrases, and the others of their group, are about them
        about = "paraphrases" in method.data or method.name.startswith("paraphrase.")
        _options.add_data(
            parser,
            several=several,
            without=method.options,
            unread=method.unread,
            paraphrases=about,
            guided=method.guided,
        )
        recipe = " [RECIPE.toml]" if method.recipe else ""
        called = f"%(prog)s{recipe}"
        parser.usage = f"{called} REF ... -i SYSTEM ... [OPTIONS]\n       {called} -t DIR [OPTIONS]"
    _add_options(parser, method)
    if "human" in method.options and method.given != "nothing":
        _options.add_first_segment(parser)
    if "allow_code" in method.runtime_parameters and _METRICS not in method.options:
        _options.add_allow_code(parser)
    if "cache" in method.runtime_parameters:
        rare(
            parser.add_argument(
                "--no-cache", action="store_true", help="neither use nor keep what was made before"
            )
        )
    flags = (option.mark(Flags) for option in method.options.values())
    taken = {name for mark in flags if mark for name in mark.names}
    output = _options.add_output(parser, taken=taken)
    if method.gives_scores:
        output.add_argument(
            "-b", "--score-only", action="store_true", help="print the number alone"
        )
        output.add_argument(
            "-sl", "--sentence-level", action="store_true", help="print a score per segment"
        )
    else:
        output.add_argument(
            "--all",
            action="store_true",
            help=f"print all rows of tables, not {_ROWS} of each; as LaTeX all tables",
        )
    for option in method.options.values():
        if _heading(option) == _OUTPUT:
            _add(output, option, method.options)
    _options.add_page(output)
    _options.add_tables(output)
    _options.add_gate(output, method.options)
    parser.set_defaults(run=lambda args: _run_gated(method, args), answers=method.systems)
    if method.kept:
        parser.set_defaults(kept=method.kept)


def _add_options(parser: Parser, method: Method) -> None:
    """All options but those of the output, under their headings."""
    groups: dict[str, Any] = {}
    for option in method.options.values():
        heading = _heading(option)
        if option.name in method.recipe:
            continue
        if option.name == _METRICS:
            _options.add_metrics(
                parser, _default(option), as_sacrebleu=method.name in _AS_SACREBLEU
            )
        elif heading != _OUTPUT:
            if heading not in groups:
                groups[heading] = parser.add_argument_group(heading)
            _add(groups[heading], option, method.options)


def _heading(option: Option) -> str:
    group = option.mark(Group)
    return group.title if group else _OWN


def _default(option: Option) -> list[str]:
    given = () if option.required or option.default is None else option.default
    return [given] if isinstance(given, str) else [str(spec) for spec in given or ()]


def _add(group: argparse._ArgumentGroup, option: Option, options: Mapping[str, Option]) -> None:
    flags = option.mark(Flags)
    names = list(dict.fromkeys((*(flags.names if flags else ()), option.flag)))
    help_text = _help_text(option, options).replace("%", "%%")
    if option.switch:
        added = group.add_argument(
            *names, dest=option.name, action=argparse.BooleanOptionalAction, default=None,
            help=help_text,
        )  # fmt: skip
        if option.rare:
            rare(added)
        return
    metavar = option.mark(Metavar)
    choices = option.choices
    shown = metavar.text if metavar else f"{{{','.join(map(str, choices))}}}" if choices else None
    if shown is None:
        shown = "NAME=VALUE" if option.is_mapping else option.name.upper()
    if not metavar and len(shown) > _LONGEST:
        shown = "NAME"
    added = group.add_argument(
        *names,
        dest=option.name,
        nargs=_number_of_values(option),
        type=_Reader(option),
        default=None,
        metavar=shown,
        required=option.required,
        help=help_text,
        action="extend" if option.many or option.is_mapping else "store",
    )
    if option.rare:
        rare(added)
    shorthands = [mark for mark in option.marks if isinstance(mark, Shorthand)]
    one_of = group.add_mutually_exclusive_group() if len(shorthands) > 1 else group
    for short in shorthands:
        added = one_of.add_argument(
            *short.names, dest=option.name, action="store_const", const=short.value, default=None,
            help=f"the same as {option.flag} {short.value}",
        )  # fmt: skip
        rare(added)


def _number_of_values(option: Option) -> str | None:
    """A list that is not empty by default may be made so by the name of the option alone."""
    if option.many and option.default and not option.required:
        return "*"
    return "+" if option.many or option.is_mapping else None


class _Reader:
    """Reads a text of the command line as a value of an option."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.__name__ = option.name

    def __call__(self, text: str) -> object:
        try:
            if self.option.is_mapping and not self.option.many:
                return read_pair(self.option, text)
            return read_text(self.option, text)
        except GnomonError as error:
            raise argparse.ArgumentTypeError(str(error)) from error


def _help_text(option: Option, options: Mapping[str, Option]) -> str:
    text = methods.plain_help(option, options=options)
    choices = ", ".join(map(str, option.choices))
    if len(choices) > _LONGEST - 2 and option.mark(Metavar) is None:
        text += f"; NAME is one of: {choices}"
    default = option.default
    if option.required or default is None or default in ((), "") or "default" in text:
        return text
    if isinstance(default, bool):
        return f"{text} (default: {'yes' if default else 'no'})"
    said = " ".join(map(str, default)) if isinstance(default, tuple | list) else f"{default}"
    return f"{text} (default: {said})"


def _parse_options(method: Method, args: argparse.Namespace) -> dict[str, Any]:
    """The options that the command line names, as values."""
    options: dict[str, Any] = {}
    for option in method.options.values():
        if option.name == _METRICS or option.name in method.recipe:
            continue
        value = getattr(args, option.name)
        if value is None:
            continue
        if option.is_mapping and not option.many:
            for name, _ in value:
                if sum(other == name for other, _ in value) > 1:
                    raise UsageError(f"{option.flag} names {name!r} twice")
            value = dict(value)
        elif option.many and value and isinstance(value[0], list):  # ranges of numbers
            value = list(dict.fromkeys(number for numbers in value for number in numbers))
        options[option.name] = value
    return options


def _parse_metrics(method: Method, args: argparse.Namespace) -> dict[str, list[str]]:
    if _METRICS not in method.options:
        return {}
    specs = method.options[_METRICS].mark(Specs)
    chosen = _options.metrics(args, specs.words if specs else ())
    return {_METRICS: chosen} if chosen else {}


def _run_gated(method: Method, args: argparse.Namespace) -> int:
    """Run a method; what keeps it from an answer is told where its gate would be."""
    args.may_write = False
    try:
        return _run(method, args)
    except GateError:
        raise
    except GnomonError as error:
        if args.may_write:
            from gnomon.core.findings import Finding
            from gnomon.core.gates import GateCase

            command = " ".join(method.command)
            case = GateCase("gnomon", command, "error", str(error))
            with suppress(OSError):
                _write_gate(args, Finding(command, method.title, (), {}, gate=(case,)))
        raise


def _run(method: Method, args: argparse.Namespace) -> int:
    """Check, read, call, write the page and the tables, print."""
    options = _parse_options(method, args)
    if method.recipe:
        from gnomon.cli._recipe import read_recipe

        options |= read_recipe(method, args)
    options |= _parse_metrics(method, args)
    options |= _load_tagger(method, args, options)
    _options.check_gate(args, options)
    outcomes = [options.get(name) for name, option in method.options.items() if is_outcome(option)]
    tables = _options.wanted_tables(args)
    inputs = [path for option in method.options.values() for path in _read(option, options)]
    written = [args.html, *_options.wanted_figures(args), *outcomes, *tables.values()]
    written += [args.junit, args.summary]
    _options.check_outputs(args, *written, inputs=inputs)
    args.may_write = True
    if not args.html:
        every = args.format == "json" or _options.is_workbook(args)
        read = {*tables, *method.rows} if every else set(tables)
        options |= {name: 0 for name, table in method.for_pages.items() if table not in read}
    run, planned = _runtime_options(method, args), _requests.are_planned(args)
    early = {**options, **({"allow_code": args.allow_code} if "allow_code" in run else {})}
    refuse(method.problems(None, early))
    with stages("reading", quiet=args.quiet, timed=not method.gives_scores) as progress:
        data = _data(method, args, options)
        if method.name in _AS_SACREBLEU:
            options[_METRICS] += _options.logged_metrics(args, data["testset"])
        if "progress" in run:
            progress.tick("reading")
            run["progress"] = progress
        progress.begin(" ".join(method.command))
        if planned:
            return _plan(method, args, data, options, run)
        with _keeping_scores(kept=not getattr(args, "no_cache", False)):
            result = method.function(**data, **options, **run)
        if os.environ.get("RANK", "0") != "0":  # of several processes, the first one answers
            return 0
        progress.begin("reporting")
        finding = result
        if method.gives_scores:
            from gnomon import report

            name = next((testset.name for testset in data.values()), "")
            finding = report.scores_finding(result, name)
        finding = replace(finding, method=" ".join(method.command))
        # what is said of paraphrases themselves needs no section that lists them
        _write(args, finding, () if method.paraphrased else data.values(), tables)
        if "progress" in run:
            progress.tick("reporting")
    if method.gives_scores:
        _show_scores(args, result, finding.method)
    else:
        _options.show(args, finding, finding.method, most=None if args.all else _ROWS)
    return _ended(args, finding)


def _ended(args: argparse.Namespace, finding: Finding) -> int:
    """End after the answer: a figure, which may be refused, and the gate."""
    for path, title in _options.wanted_figures(args).items():
        finding.save_figure(path, title)
    if finding.gate:
        from gnomon.core.gates import refuse_gate

        refuse_gate(finding.gate, strict=args.strict)
    return 0


def _plan(
    method: Method,
    args: argparse.Namespace,
    data: dict[str, Any],
    options: dict[str, Any],
    run: dict[str, Any],
) -> int:
    """Show or write what judges would be asked; nothing that follows from answers is kept."""
    outcomes = [name for name, option in method.options.items() if is_outcome(option)]
    without = {**run, **({"cache": None} if "cache" in run else {})}

    def work(moved: dict[str, Any]) -> None:
        method.function(**data, **moved, **without)

    return _requests.plan_requests(args, " ".join(method.command), options, outcomes, work)


def _show_scores(args: argparse.Namespace, scores: list[Scores], command: str) -> None:
    """Print scores: of systems, of segments, or nothing but the numbers."""
    from gnomon import report

    if args.score_only:
        digits = 1 if args.digits is None else args.digits
        values = [
            scored.segments.ravel() if args.sentence_level else scored.system for scored in scores
        ]
        _options.emit(args, (f"{value:.{digits}f}\n" for row in values for value in row))
        _options.log_notices(scores)
    elif args.sentence_level and _options.is_workbook(args):
        report.write_xlsx(args.output, scores, segments=True)
    elif args.sentence_level:
        said = report.render_segments(scores, args.format, command=command, digits=args.digits)
        _options.emit(args, [said])
        _options.log_notices(scores if args.format in _options.BARE else ())
    else:
        _options.show(args, scores, command)


def _read(option: Option, options: Mapping[str, Any]) -> list[str]:
    """The files that an option names for reading."""
    value = options.get(option.name)
    if value is None or option.mark(InputFile) is None:
        return []
    if isinstance(value, dict):
        return [str(path) for path in value.values()]
    return [str(path) for path in value] if isinstance(value, list) else [str(value)]


def _keeping_scores(*, kept: bool) -> AbstractContextManager[None]:
    if kept:
        return nullcontext()
    from gnomon.core.cache import nothing_kept

    return nothing_kept()


def _load_tagger(
    method: Method, args: argparse.Namespace, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The tagger that is named as a function, which runs its code."""
    given = options.get("tagger")
    if not isinstance(given, str) or ":" not in given:
        return {}
    from gnomon.linguistics.own_taggers import is_own_tagger, load_own_tagger

    if not is_own_tagger(given):
        return {}
    if "allow_code" not in method.runtime_parameters:
        raise UsageError(
            f"{' '.join(method.command)} takes no function as tagger; a package can offer it by an"
            " entry point (docs/extend/annotator.md)"
        )
    if not args.allow_code:
        raise UsageError(
            f"tagger {given!r} runs code of {given.rpartition(':')[0]}; if you trust it, allow it"
            " (--allow-code)"
        )
    return {"tagger": load_own_tagger(given)}


def _runtime_options(method: Method, args: argparse.Namespace) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if "allow_code" in method.runtime_parameters:
        arguments["allow_code"] = args.allow_code
    if "cache" in method.runtime_parameters:
        from gnomon.core.cache import Cache, default_path

        arguments["cache"] = None if args.no_cache else Cache(default_path())
    if "progress" in method.runtime_parameters:
        arguments["progress"] = None
    return arguments


def _data(method: Method, args: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the method, by parameter, read from the files that the command line names."""
    given: Sequence[Any]
    args.human_readable = method.gives_scores  # which need nothing of what people said
    gates = any(value for name, value in options.items() if name.startswith("fail_"))
    args.aligns, args.guided = method.aligns and not gates, method.guided
    if method.given == "nothing":
        given = ()
    elif method.given == "systems":
        given = (_options.load_outputs(args),)
    elif method.given == "testset":
        given = (_options.load(args),)
    elif method.given == "testsets":
        given = (_options.load_several(args),)
    else:
        given = method.given(_options.Inputs(args), options)
    if "human" in options:
        options["human"] = args.human  # kinds, where files were read with the test set
    return dict(zip(method.data, given, strict=False))


def _write(
    args: argparse.Namespace, finding: Finding, data: Collection[Any], tables: Mapping[str, str]
) -> None:
    from gnomon import report
    from gnomon.data.formats import atomic_write

    for name, path in tables.items():
        only = replace(finding, tables=(finding.table(name),), views=(), verdict=())
        with atomic_write(path) as file:
            file.write(report.render(only, "json" if path.endswith(".json") else "tsv"))
    if args.html:
        each = [some if isinstance(some, list) else [some] for some in data]
        sets = [given for group in each for given in group if hasattr(given, "paraphrases")]
        page = [finding, *_options.paraphrase_sections(*sets)]
        report.write_html(args.html, page)
    _write_gate(args, finding)


def _write_gate(args: argparse.Namespace, finding: Finding) -> None:
    from gnomon import report
    from gnomon.data.formats import atomic_write

    if args.junit:
        with atomic_write(args.junit) as file:
            file.write(report.to_junit(finding, strict=args.strict))
    if args.summary:
        with Path(args.summary).open("a", encoding="utf-8", newline="\n") as file:
            file.write(report.gate_summary(finding))
