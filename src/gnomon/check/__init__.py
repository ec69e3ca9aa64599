"""Whether every output is a translation, and keeps what was prescribed."""
