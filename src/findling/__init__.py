"""findling finds code and documents by exact text, by name and by meaning, on your own machine."""

__version__ = "0.1.0"
