"""A plugin for `make quick`: of a file of tests that a change reaches only by programs, it leaves those of these
programs.

`-p tests.loop.narrowed`; the environment's NARROWED is JSON: by file, the stems of the programs. Where no test of a
file is named after one of them, all its tests stay.
"""

import json
import os
import re

import pytest

VARIABLE = "NARROWED"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    stems_by_file: dict[str, list[str]] = json.loads(os.environ.get(VARIABLE, "{}"))
    kept, left_out = list(items), []
    for file, stems in stems_by_file.items():
        name = re.compile(rf"[\[-](?:{'|'.join(map(re.escape, stems))})[\]-]")
        ours = [item for item in kept if item.nodeid.startswith(f"{file}::")]
        if any(name.search(item.name) for item in ours):
            left_out += [item for item in ours if not name.search(item.name)]
    if left_out:
        out = {*left_out}
        items[:] = [item for item in kept if item not in out]
        config.hook.pytest_deselected(items=left_out)
