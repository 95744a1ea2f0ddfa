"""Which definition a use of a name means, and so who calls a definition and what it calls."""
