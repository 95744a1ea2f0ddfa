"""The words of the house: values, errors, and what text is made of. Imports nothing else of findling."""
