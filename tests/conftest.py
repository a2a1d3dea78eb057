"""Settings for all tests: no time limit on a single example, since kernels compile on first use."""

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")
