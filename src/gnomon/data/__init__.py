"""Where test sets come from: file formats, published sets, the bundled example."""
