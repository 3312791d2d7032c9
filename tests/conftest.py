"""Every test run has a cache folder of its own, so nothing depends on what earlier runs left behind."""

import os
import tempfile

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="chainrule-cache-")
