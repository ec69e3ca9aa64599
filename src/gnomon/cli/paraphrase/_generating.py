"""Options of ``gnomon paraphrase generate`` for methods that need a model, and what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli.paraphrase import _coding
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections import Counter
    from collections.abc import Sequence

    from gnomon.cli._progress import Stages
    from gnomon.findings import Cell
    from gnomon.paraphrase import Constraint
    from gnomon.paraphrase.generation import GenerationOptions, Work
    from gnomon.testset import TestSet

__all__ = [
    "METHODS",
    "add_machine",
    "add_models",
    "check",
    "make",
    "needs_outputs",
    "options_of",
    "show",
]

#: the same as ``gnomon.paraphrase.generation.METHODS``, which is not imported for the help
METHODS = (
    "beam",
    "diverse",
    "sampled",
    "codes",
    "random-codes",
    "output-codes",
    "constrained",
)
#: option -> methods that read it
_OWNERS = {
    "beam": tuple(m for m in (*METHODS, "round-trip") if m != "sampled"),
    "length_penalty": tuple(m for m in (*METHODS, "round-trip") if m != "sampled"),
    "limit": (*METHODS, "round-trip"),
    "seed": ("sampled", "random-codes"),
    "top_p": ("sampled",),
    "temperature": ("sampled",),
    "groups": ("diverse",),
    "strength": ("diverse",),
    "together": ("constrained",),
    "constraints": ("constrained",),
    "codes": ("output-codes",),
    "codes_model": ("output-codes",),
    "parser": ("output-codes",),
    "output_trees": ("output-codes",),
    "model": METHODS,
    "device": (*METHODS, "round-trip"),
    "precision": (*METHODS, "round-trip"),
    "forward_model": ("round-trip",),
    "back_model": ("round-trip",),
}
_SEARCH = ("beam", "length_penalty", "limit", "seed", "top_p", "temperature", "groups", "strength")


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("a model that paraphrases")
    add_machine(group)
    group.add_argument("--beam", type=int, metavar="N", help="width (20; under codes 6)")
    group.add_argument(
        "--length-penalty", type=float, metavar="X", help="scores are divided by length^X (1)"
    )
    group.add_argument("--limit", type=int, metavar="N", help="most pieces of a paraphrase")
    group.add_argument("--seed", type=int, metavar="N", help="sampled, random-codes (12345)")
    group.add_argument(
        "--top-p", type=float, metavar="X", help="sampled: share of what may be (.8)"
    )
    group.add_argument("--temperature", type=float, metavar="X", help="sampled (1)")
    group.add_argument("--groups", type=int, metavar="N", help="diverse: searches (5)")
    group.add_argument("--strength", type=float, metavar="X", help="diverse: penalty (.5)")
    _coding.add_coder(group)
    group.add_argument(
        "--constraints",
        metavar="FILE",
        help="constrained: made by 'gnomon paraphrase constraints --save' (default: what the"
        " systems ask for; or --variants)",
    )
    group.add_argument(
        "--together", action="store_true", help="constrained: all of a segment in one paraphrase"
    )


def add_machine(group: argparse._ArgumentGroup) -> None:
    """Add the options that name a model and where it runs."""
    group.add_argument("--model", metavar="MODEL", help="a folder or a name: an encoder-decoder")
    group.add_argument("--device", metavar="NAME", help="cpu, cuda, cuda:1 (default: a GPU if any)")
    group.add_argument("--precision", choices=("fp32", "bf16", "fp16"), help="of weights (fp32)")


def check(args: argparse.Namespace) -> None:
    """Refuse options that the method does not read, and a method without a model.

    Raises:
        UsageError: likewise.
    """
    for option, methods in _OWNERS.items():
        given = getattr(args, option)
        if given not in (None, False) and args.method not in methods:
            raise UsageError(
                f"--{option.replace('_', '-')} belongs to --method {', '.join(methods)}, not"
                f" {args.method}"
            )
    if args.method in METHODS and not args.model:
        raise UsageError(f"--method {args.method} needs a model: --model FOLDER")
    if args.method == "output-codes" and not args.codes:
        raise UsageError("--method output-codes needs the codes of the model: --codes FOLDER")
    if args.parser and args.output_trees:
        raise UsageError("--parser makes trees, and --output-trees gives them; choose one")
    if args.method == "constrained" and args.constraints and args.variants:
        raise UsageError("--constraints and --variants are two lists; give one of them")
    if bool(args.forward_model) is not bool(args.back_model):
        raise UsageError("a round trip by models needs both --forward-model and --back-model")


def needs_outputs(args: argparse.Namespace) -> bool:
    """Whether the method reads what systems said."""
    listed = args.constraints or args.variants
    return args.method == "output-codes" or (args.method == "constrained" and not listed)


def make(
    args: argparse.Namespace, testset: TestSet, progress: Stages
) -> tuple[str, Counter[str], tuple[str, ...]]:
    """Write the paraphrases.

    Returns:
        What they are called, counts, and what the user should know.
    """
    from gnomon.paraphrase import generation

    options = options_of(args)
    work = _work(args, testset, options, progress)
    progress.tick("loading")
    counts = generation.save_generated(
        args.save, work, resume=args.resume, batch=args.batch or 32, progress=progress
    )
    return work.method, counts, _notices(args, work, counts)


def options_of(args: argparse.Namespace) -> GenerationOptions:
    """The options of generation that were given.

    Raises:
        UsageError: one is out of its range.
    """
    from gnomon.paraphrase.generation import GenerationOptions

    given = {name: getattr(args, name) for name in _SEARCH}
    return GenerationOptions(
        method=args.method,
        n=args.n,
        together=args.together,
        keep_copies=args.keep_copies,
        keep_duplicates=args.keep_duplicates,
        metric=args.filter,
        least=args.least if args.filter else None,
        **{name: value for name, value in given.items() if value is not None},
    )


def show(
    args: argparse.Namespace, method: str, counts: Counter[str], notices: tuple[str, ...]
) -> None:
    """Say what was made, what was dropped, and what was out of reach."""
    from gnomon.cli import _options
    from gnomon.findings import Column, Finding, Listing, Table
    from gnomon.paraphrase.generation import COUNTS

    names = ("paraphrases", "segments", *COUNTS)
    columns = tuple(Column(name, name.capitalize()) for name in ("method", *names))
    row: dict[str, Cell] = {"method": method, **{name: counts[name] for name in names}}
    shown = (*names[:2], *(name for name in COUNTS if counts[name]))
    title = f"Paraphrases in {args.save}"
    finding = Finding(
        "paraphrase generate",
        title,
        (Table("made", title, columns, (row,)),),
        {},
        views=(Listing("made", title, ("method", *shown)),),
        notices=notices,
    )
    _options.show(args, finding, "paraphrase generate")


def _work(
    args: argparse.Namespace, testset: TestSet, options: GenerationOptions, progress: Stages
) -> Work:
    from gnomon.paraphrase import generation

    return generation.plan(
        testset,
        args.forward_model or args.model,
        options,
        constraints=_constraints(args, testset) if args.method == "constrained" else None,
        codes=_coding.coder(args, testset, progress),
        back=args.back_model,
        device=args.device,
        precision=args.precision or "fp32",
        allow_code=args.allow_code,
    )


def _constraints(args: argparse.Namespace, testset: TestSet) -> Sequence[Constraint]:
    from gnomon import paraphrase

    if args.constraints:
        return paraphrase.read_constraints(args.constraints)
    if args.variants:
        return paraphrase.variant_constraints(testset, paraphrase.read_variants(args.variants))
    return paraphrase.output_constraints(testset)


def _notices(args: argparse.Namespace, work: Work, counts: Counter[str]) -> tuple[str, ...]:
    from gnomon.paraphrase.generation import AUTO_CODES

    said = []
    if work.models.model.codes and args.method not in ("codes", "random-codes", "output-codes"):
        said.append(AUTO_CODES)
    if args.method == "constrained":
        asked = sum(len(group.asks[0].phrases) for row in work.groups for group in row)
        if counts["unreachable"]:
            said.append(
                f"{counts['unreachable']} of {asked} constraints were not reached: they hold words"
                " that the model cannot write, or are longer than its output may be"
            )
    if counts["bare"]:
        said.append(f"{counts['bare']} segment(s) have an empty reference, and no paraphrase")
    if counts["empty"]:
        said.append(f"{counts['empty']} time(s) the model wrote nothing")
    if counts["short"]:
        wanted = work.options.wanted
        said.append(
            f"{counts['short']} time(s) fewer than {wanted} paraphrase(s) were left after filters"
        )
    models = [model for model in (work.models.model, work.models.back) if model is not None]
    return tuple(dict.fromkeys((*said, *(one for model in models for one in model.notices))))
