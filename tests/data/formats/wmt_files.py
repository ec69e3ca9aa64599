"""WMT's XML and SGML, written from test sets, and texts of our own to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import gnomon as gn

SOURCES = ["Der Hund schläft.", "Milch & Brot", "Es regnet.", "Gut."]
REFERENCE = ["The dog is asleep.", "Milk & bread", "It is raining.", "Good."]
OUTPUT = ["The dog sleeps.", "Milk and <b>bread</b>", "It rains.", "Well."]
DOCUMENTS = ["news.1", "news.1", "news.2", "news.2"]


def small_set() -> gn.TestSet:
    """Four segments in two documents, one reference, two systems."""
    return gn.TestSet(
        name="minitest2021",
        references={"A": REFERENCE},
        systems={"alpha": OUTPUT, "beta": REFERENCE},
        sources=SOURCES,
        language_pair="de-en",
        documents=DOCUMENTS,
        domains=["news"] * 4,
    )


def documents_of(testset: gn.TestSet) -> dict[str, list[int]]:
    """Document -> its segments."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(testset.documents or ["all"] * testset.segments):
        found.setdefault(name, []).append(number)
    return found


def to_xml(testset: gn.TestSet, *, only: Sequence[str] | None = None) -> str:
    """One file as WMT distributes it; ``only`` these systems, and no reference then."""
    start, end = (testset.language_pair or "de-en").split("-")
    lines = ["<?xml version='1.0' encoding='utf-8'?>", f'<dataset id="{testset.name}">']
    for name, places in documents_of(testset).items():
        domain = "" if testset.domains is None else f' domain="{testset.domains[places[0]]}"'
        lines.append(f'  <doc origlang="{start}" id="{escape(name)}"{domain}>')
        lines += _element("src", {"lang": start}, testset.sources or [], places)
        for reference, texts in testset.references.items() if only is None else ():
            lines += _element("ref", {"lang": end, "translator": reference}, texts, places)
        for system, texts in testset.systems.items():
            if only is None or system in only:
                lines += _element("hyp", {"lang": end, "system": system}, texts, places)
        lines.append("  </doc>")
    return "\n".join([*lines, "</dataset>"]) + "\n"


def _element(
    tag: str, attributes: Mapping[str, str], texts: Sequence[str | None], places: Sequence[int]
) -> list[str]:
    said = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    segments = [
        f'        <seg id="{number}">{escape(texts[place] or "", quote=False)}</seg>'
        for number, place in enumerate(places, start=1)
        if texts[place] is not None
    ]
    return [f"    <{tag}{said}>", "      <p>", *segments, "      </p>", f"    </{tag}>"]


def to_sgml(
    testset: gn.TestSet, role: str, texts: Sequence[str | None], *, sysid: str = "ref"
) -> str:
    """One file of "srcset", "refset" or "tstset"."""
    start, end = (testset.language_pair or "de-en").split("-")
    target = "" if role == "srcset" else f' trglang="{end}"'
    lines = [f'<{role} setid="{testset.name}" srclang="{start}"{target}>']
    for name, places in documents_of(testset).items():
        said = "" if role == "srcset" else f' sysid="{sysid}"'
        lines += [f'<doc{said} docid="{name}" genre="news" origlang="{start}">', "<p>"]
        lines += [
            f'<seg id="{number}">{escape(texts[place] or "", quote=False)}</seg>'
            for number, place in enumerate(places, start=1)
        ]
        lines += ["</p>", "</doc>"]
    return "\n".join([*lines, f"</{role}>"]) + "\n"


def sgml_files(testset: gn.TestSet, folder: Path) -> list[Path]:
    """Source, references and outputs as WMT names them."""
    start, end = (testset.language_pair or "de-en").split("-")
    named = {f"{testset.name}-{start}{end}-src.{start}.sgm": ("srcset", testset.sources or [], "")}
    for name, texts in testset.references.items():
        file = f"{testset.name}-{start}{end}-ref{name if name != 'A' else ''}.{end}.sgm"
        named[file] = ("refset", texts, "ref")
    for name, texts in testset.systems.items():
        named[f"{testset.name}.{name}.{start}-{end}.sgm"] = ("tstset", texts, name)
    for file, (role, texts, sysid) in named.items():
        content = to_sgml(testset, role, texts, sysid=sysid)
        (folder / file).write_text(content, encoding="utf-8")
    return [folder / file for file in named]
