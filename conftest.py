"""Settings of the tests of all packages."""

from __future__ import annotations

import os

import hypothesis

# A first call compiles, which no deadline foresees. CI draws the same examples each
# time, so that a failure there is a change's own; elsewhere they differ from run to run.
hypothesis.settings.register_profile(
    "gnomon", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
hypothesis.settings.load_profile("gnomon")
