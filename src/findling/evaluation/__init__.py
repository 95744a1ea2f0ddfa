"""How good are answers: judged queries, asked of an engine, and the scores of what came back.

``judged`` reads queries and runs, ``scoring`` is the rule (both need the standard library alone), ``run`` asks.
``from_history`` makes judged queries of a repository's own past (``history``: its commits; ``questions``: its
sentences), ``plots`` draws. Knows no view and no command line; what it hands out are values of findling.model.reports.
"""
