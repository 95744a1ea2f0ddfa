"""Where an index is kept, and what it proposes for a question.

`protocols` is the seam. `memory` and `local` keep an index, `joined` makes one of several.
"""
