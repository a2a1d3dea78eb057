"""Settings of hypothesis: a profile for every run, and a long one for a search for faults.

`pytest --hypothesis-profile=long` chooses the long one. Neither has a time limit on an example,
since kernels compile on first use. Where a test needs another number of examples than the others it
names a multiple of `settings.default.max_examples`, so that it follows the profile too.
"""

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.register_profile("long", deadline=None, max_examples=3000)
settings.load_profile("project")
