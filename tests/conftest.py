"""What holds for every test."""

import os

from hypothesis import settings

os.environ["CI"] = "1"  # no question leaves a process behind

settings.register_profile("findling", deadline=None)  # how fast a machine is proves nothing
settings.load_profile("findling")
