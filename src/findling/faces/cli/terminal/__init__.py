"""RESULTS -> WHAT IS PRINTED. Useful for showing any answer type; knows no engine, no index and no arguments.

A view prints one kind of output: ``plain`` for pipes (stable, one block or line for each place), ``pretty`` for
terminals (rich, imported only then), ``json`` for programs. ``words`` has the sentences for stderr, ``safe`` keeps
control characters away from terminals, ``progress`` shows how far indexing is.
"""
