"""Columns that the tables of a grid search share."""

from typing import Any

from gnomon.core.records import column

EXPLAINER: Any = column("Explainer", help="what explained, as it was given")
SIDES: Any = column("Sides", help="whose words were explained")
RULE: Any = column(
    "Rule",
    help="how p and w were chosen; held-out: without the language pair that they are judged on;"
    " best: each experiment's own best; published: the paper's; fixed: as given; all but held-out,"
    " published and fixed are chosen on what they are judged on;"
    " most-improving and largest-mean never take w = 1: a gain of 0 or less says keep the metric",
)
EXPONENT: Any = column("p", digits=1, help="exponent of the power mean")
WEIGHT: Any = column("w", digits=1, help="weight of the metric itself")
DATASET: Any = column("Data", help="name of the test set")
LANGUAGE_PAIR: Any = column("Language pair", help="such as de-en")
EXPERIMENTS: Any = column("n", help="experiments")
BETTER: Any = column("Better", help="experiments with a gain above 0.00001")
BETWEEN: Any = column("Between", help="neither better nor worse")
WORSE: Any = column("Worse", help="gain of 0 or less")
