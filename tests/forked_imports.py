"""What a process that commands are forked from imports (`forked`)."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads must not be forked

import numpy  # noqa: F401
import platformdirs  # noqa: F401
import rich.console
import rich.markdown
import rich.table  # noqa: F401
import simsimd  # noqa: F401
import tree_sitter  # noqa: F401

import findling.embedding.bundled
import findling.engine.answers
import findling.engine.engine
import findling.engine.indexer
import findling.engine.repositories
import findling.engine.text_search
import findling.faces.cli.commands
import findling.faces.cli.grep_command
import findling.faces.cli.main
import findling.faces.cli.terminal.plain
import findling.reading.pool
import findling.reading.prepare
import findling.search.answer
import findling.search.edges
import findling.search.searcher
import findling.search.semantic
import findling.sources.discovery
import findling.store.local.dense
import findling.store.local.reader
import findling.store.local.writer  # noqa: F401
