"""The scenarios whose pictures are checked step by step in a browser: each shows other marks. The rest would cost
minutes."""

from tests.support.tracing import ROOT

NAMES = ("accumulate", "clone", "data", "deepcopy", "detach", "saved_inplace", "silent", "view")
PATHS = [ROOT / "scenarios" / f"{name}.py" for name in NAMES]
