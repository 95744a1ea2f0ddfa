load("@rules//:defs.bzl", "rule")

LIMIT = 10

# Implements it.
def _impl(ctx):
    """Builds the target."""
    local = 1
    return []

my_rule = rule(implementation = _impl)
