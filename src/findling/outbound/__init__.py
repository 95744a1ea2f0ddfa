"""The only door to the network and to other programs.

``git``: which git is run, and with what environment; ``process``: its output, in time and within bounds. ``addresses``:
which servers may be asked; ``connection``: one request over one connection, before a deadline; ``certificates``: whom
they are believed from; ``http``: a whole answer from a server of the user's choice; ``services``: the same with a key;
``fetch``: a file from a server that nobody vouches for.
"""
