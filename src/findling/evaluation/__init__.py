"""How good are answers: judged queries, asked of an engine, and the scores of what came back.

``judged`` reads queries and runs, ``scoring`` is the rule (both need the standard library alone), ``run`` asks. Knows
no view and no command line; what it hands out are values of findling.types.
"""
