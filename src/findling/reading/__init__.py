"""What is in a file: its language, symbols and references, how it is cut, and its terms."""
