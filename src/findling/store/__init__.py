"""Where an index is kept, and what it proposes for a question.

`protocols` is the seam. `memory`, `local` and `postgresql` keep an index, `joined` makes one of several.
"""
