"""Property tests here write files: how long an example takes says nothing on a busy machine."""

from hypothesis import settings

settings.register_profile("files", deadline=None)
settings.load_profile("files")
