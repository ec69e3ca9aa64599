"""What gnomon makes of a metric: one package per method."""
