"""Imports einops, whichever Python finds first, for tests.importing_worker."""

import einops  # noqa: F401
