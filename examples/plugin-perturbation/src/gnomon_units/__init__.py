"""A perturbation for gnomon: other units, with the same number before them."""

import re

import gnomon as gn

OTHER = {"kilometres": "miles", "km": "miles", "metres": "feet", "kilos": "pounds", "°C": "°F"}
UNIT = re.compile(r"(?<=\d )(kilometres|km|metres|kilos|°C)\b")


@gn.stress.perturbation("units", phenomenon="wrong units", severity="critical", languages="en")
def units(output, _pool, _rng):
    """Puts another unit behind a number."""
    for match in UNIT.finditer(output.text):
        yield *match.span(), OTHER[match[0]]
