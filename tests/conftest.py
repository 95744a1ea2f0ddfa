"""What holds for every test."""

from hypothesis import settings

settings.register_profile("findling", deadline=None)  # how fast a machine is proves nothing
settings.load_profile("findling")
