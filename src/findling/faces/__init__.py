"""How findling is reached: the command line and the protocol of agents. No decisions are made here."""
