"""Imports einops, whichever Python finds first, for tests.server.packages.importing_worker."""

import einops  # noqa: F401
