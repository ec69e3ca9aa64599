"""Sources of test sets: file formats, published sets, the bundled example."""
