"""The common language of all packages: test sets, records, findings, options, methods."""
