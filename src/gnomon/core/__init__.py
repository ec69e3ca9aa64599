"""What every other package speaks: test sets, records, findings, options, methods."""
