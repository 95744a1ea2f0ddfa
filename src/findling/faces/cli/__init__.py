"""The command line: what was typed, asked of an engine, and printed."""
