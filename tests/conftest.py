"""What every test shares: hypothesis explores at a desk and is deterministic where `CI` is set."""

import os

from hypothesis import HealthCheck, settings

from tests.clusters import cluster as cluster  # a fixture

settings.register_profile("desk", deadline=None)
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
