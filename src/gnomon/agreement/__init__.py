"""Agreement of metrics with people: pairing of scores, measures, tests, ranks and clusters."""
