"""The names that gnomon itself gives to metrics."""

from __future__ import annotations

from gnomon.metrics._spec import Spec

__all__ = ["ALIASES", "BUILTIN", "CODE", "RESERVED"]

#: name -> "module:class", loaded when named
BUILTIN = {
    "bertscore": "gnomon.metrics.bertscore:BertScore",
    "bleu": "gnomon.metrics.bleu:Bleu",
    "bmx": "gnomon.bmx.metric:Bmx",
    "chrf": "gnomon.metrics.chrf:Chrf",
    "difficulty": "gnomon.difficulty:Difficulty",
    "meteor": "gnomon.metrics.meteor:Meteor",
    "moverscore": "gnomon.metrics.moverscore:MoverScore",
    "random": "gnomon.metrics.random_:Random",
    "rouge": "gnomon.metrics.rouge:Rouge",
    "sbert": "gnomon.metrics.sbert:Sbert",
    "scores": "gnomon.metrics.score_file:ScoreFile",
    "ter": "gnomon.metrics.ter:Ter",
    "xbertscore": "gnomon.metrics.xbertscore:XBertScore",
    "xmoverscore": "gnomon.metrics.moverscore:XMoverScore",
}

ALIASES = {
    "chrf++": Spec("chrf", None, (("word_order", 2),)),
    "rouge1": Spec("rouge", None, (("type", "rouge1"),)),
    "rouge2": Spec("rouge", None, (("type", "rouge2"),)),
    "rougeL": Spec("rouge", None, (("type", "rougeL"),)),
    "rougeLsum": Spec("rouge", None, (("type", "rougeLsum"),)),
    "spbleu": Spec("bleu", None, (("tokenize", "flores200"),)),
}

#: ``python('module:function')``
CODE = "python"

#: names that neither a user's function nor a package's metric may take
RESERVED = frozenset((*BUILTIN, *ALIASES, CODE))
