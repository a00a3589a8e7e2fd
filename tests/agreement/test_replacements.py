"""What a run replaces: a compiled function is the plain one, a loader with workers loads by itself.

An event reports both. All else is as in plain CPython, where torch.compile is real with the backend "eager", and the
loader has its workers.
"""

import textwrap

import pytest

from tests.agreement.compiled_programs import COMPILED, compiled_eagerly
from tests.agreement.test_agreement import ADDRESS
from tests.forks.plain_python import run_plain
from tests.support.sampling import sampled
from tests.support.tracing import events, printed
from tests.support.workers import Workers

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sampled([*COMPILED], lambda k: k % 2 == 0))
def test_compile_runs_the_plain_function_and_says_so(workers: Workers, name: str) -> None:
    source = f"import torch\nimport torch._dynamo\n{textwrap.dedent(COMPILED[name])}"
    plain, trace = run_plain(source, compiled_eagerly), workers.trace(source)
    assert ADDRESS.sub("~", printed(trace, "stdout")) == ADDRESS.sub("~", plain["printed"])
    assert (trace["outcome"]["status"], plain["error"]) == ("finished", None)
    assert {event["what"] for event in events(trace, "replaced")} == {"compile"}
    assert events(trace, "tracer_fault") == []


LOADED = {
    "a literal": """
        data = torch.utils.data.TensorDataset(torch.arange(6.0))
        for batch, in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True, num_workers=2):
            print(batch)
    """,
    "a variable": """
        workers = 1 + 1
        loader = torch.utils.data.DataLoader(list(range(5)), batch_size=2, num_workers=workers, drop_last=True)
        print(len(loader), loader.num_workers, [batch.tolist() for batch in loader], torch.rand(1))
    """,
    "the default of a config": """
        from dataclasses import dataclass
        from torch.utils.data import DataLoader, Dataset
        @dataclass
        class Config:
            batch_size: int = 4
            num_workers: int = 4
            pin_memory: bool = False
        class Squares(Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, k):
                return torch.tensor(float(k)), k * k
        config = Config()
        def loaders(config):
            return DataLoader(Squares(), config.batch_size, shuffle=True, num_workers=config.num_workers, pin_memory=config.pin_memory)
        for epoch in range(2):
            for x, y in loaders(config):
                print(epoch, x, y, torch.rand(1))
    """,  # noqa: E501
    "workers that persist": """
        data = torch.utils.data.TensorDataset(torch.arange(6.0))
        loader = torch.utils.data.DataLoader(
            data, batch_size=2, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=2, timeout=30
        )
        for epoch in range(3):
            print([batch.tolist() for batch, in loader], torch.rand(1))
    """,
    "a stream": """
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(5))
        for _ in range(2):
            print(list(torch.utils.data.DataLoader(Stream(), batch_size=2, num_workers=1, persistent_workers=True)))
    """,
    "a split, a sampler, a function that collates": """
        from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split
        data = TensorDataset(torch.randn(10, 2), torch.arange(10))
        train, val = random_split(data, [8, 2], generator=torch.Generator().manual_seed(1))
        def collate(rows):
            return torch.stack([x for x, _ in rows]), [int(y) for _, y in rows]
        def seed_worker(k):
            torch.manual_seed(k)
        for part in (DataLoader(train, 3, num_workers=2, collate_fn=collate, worker_init_fn=seed_worker),
                     DataLoader(val, 1, num_workers=3, multiprocessing_context="fork"),
                     DataLoader(train, 2, sampler=WeightedRandomSampler([1.0] * 8, 4), num_workers=1)):
            print(list(part), next(iter(part))[1])
    """,
    "batches of every type": """
        import random
        import numpy as np
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __len__(self):
                return 5
            def __getitem__(self, k):
                return {
                    "x": torch.full((2,), float(k)), "k": k, "half": k / 2, "name": str(k), "none": (k, [k, str(k)]),
                    "array": np.ones(2, dtype=np.float32) * k, "long": torch.tensor(k),
                }
        def facts(value):
            if isinstance(value, torch.Tensor):
                return value._version, value.dtype, value.is_leaf, value._is_view(), value.tolist()
            if isinstance(value, dict):
                return {name: facts(part) for name, part in value.items()}
            return [facts(part) for part in value] if isinstance(value, (list, tuple)) else value
        for workers in (0, 1, 2):
            for batch in DataLoader(Rows(), batch_size=2, num_workers=workers):
                print(facts(batch))
    """,
    "chance in each worker": """
        import random
        import numpy as np
        from torch.utils.data import DataLoader, Dataset
        class Noise(Dataset):
            def __len__(self):
                return 6
            def __getitem__(self, k):
                return torch.rand(1), random.random(), np.random.rand()
        for workers in (2, 3):
            for epoch in range(2):
                print(list(DataLoader(Noise(), 2, shuffle=True, num_workers=workers)), torch.rand(1), random.random())
    """,
    "a sampler that draws ahead": """
        from torch.utils.data import DataLoader, Sampler
        class Chance(Sampler):
            def __iter__(self):
                for _ in range(12):
                    yield int(torch.randint(0, 5, ()))
        for batch in DataLoader(range(5), 1, sampler=Chance(), num_workers=2):
            print(batch, torch.rand(1))
    """,
    "a stream that every worker repeats": """
        from torch.utils.data import DataLoader, IterableDataset
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(range(5))
        print([batch.tolist() for batch in DataLoader(Stream(), batch_size=2, num_workers=2)])
    """,
    "a stream that workers divide": """
        from torch.utils.data import DataLoader, IterableDataset, get_worker_info
        class Stream(IterableDataset):
            def __iter__(self):
                info = get_worker_info()
                return iter(range(7)) if info is None else iter(range(info.id, 7, info.num_workers))
        for workers in (0, 2, 3):
            print([batch.tolist() for batch in DataLoader(Stream(), batch_size=2, num_workers=workers)])
        print(get_worker_info())
    """,
    "a stream that worker_init_fn divides": """
        import math
        from torch.utils.data import DataLoader, IterableDataset, get_worker_info
        class Range(IterableDataset):
            def __init__(self, start, end):
                self.start, self.end = start, end
            def __iter__(self):
                return iter(range(self.start, self.end))
        def divide(worker_id):
            info = get_worker_info()
            share = math.ceil((info.dataset.end - info.dataset.start) / info.num_workers)
            start = info.dataset.start + worker_id * share
            info.dataset.start, info.dataset.end = start, min(start + share, info.dataset.end)
        data = Range(3, 7)
        print(list(DataLoader(data, num_workers=2, worker_init_fn=divide)), data.start, data.end)
    """,
    "what a data set keeps of its calls": """
        from torch.utils.data import DataLoader, Dataset, Subset
        class Counted(Dataset):
            def __init__(self):
                self.calls, self.cache = 0, {}
            def __len__(self):
                return 4
            def __getitem__(self, k):
                self.calls += 1
                self.cache[k] = self.calls
                return self.calls
        data = Counted()
        for workers in (2, 0):
            print(list(DataLoader(data, num_workers=workers)), data.calls, data.cache)
            print(list(DataLoader(Subset(data, [1, 2]), num_workers=workers)), data.calls, data.cache)
    """,
    "memory that is not the data set's": """
        from torch.utils.data import DataLoader
        data = [torch.arange(3.0), torch.arange(3.0)]
        for workers in (1, 0):
            for row, again in DataLoader(data, batch_size=1, num_workers=workers, collate_fn=lambda rows: (rows[0], rows[0])):
                row.mul_(2)
                print(row._version, again, row.data_ptr() == again.data_ptr(), data)
    """,  # noqa: E501
    "rows without batches, which want gradients": """
        from torch.utils.data import DataLoader
        data = [torch.ones(2, requires_grad=True), torch.zeros(2)]
        for row in DataLoader(data, batch_size=None, num_workers=1):
            print(row, row._version, row.is_leaf, row is data[0])
    """,
    "named tuples and objects of the program": """
        from collections import namedtuple
        from dataclasses import dataclass
        from torch.utils.data import DataLoader
        Pair = namedtuple("Pair", "x y")
        @dataclass
        class Batch:
            x: torch.Tensor
        data = [Pair(torch.ones(2), k) for k in range(3)]
        print(next(iter(DataLoader(data, 2, num_workers=1))))
        print(list(DataLoader(data, 2, num_workers=1, collate_fn=lambda rows: Batch(torch.stack([row.x for row in rows])))))
    """,  # noqa: E501
}


@pytest.mark.parametrize("name", LOADED)
def test_a_loader_with_workers_loads_by_itself_and_says_so(workers: Workers, name: str) -> None:
    source = f"import torch\n{textwrap.dedent(LOADED[name])}"
    plain, trace = run_plain(source), workers.trace(source)
    assert printed(trace, "stdout") == plain["printed"]
    assert (trace["outcome"]["status"], plain["error"]) == ("finished", None)
    told = events(trace, "replaced")
    assert {event["what"] for event in told} == {"workers"} and all(event["count"] >= 1 for event in told)
    assert events(trace, "tracer_fault") == []


def test_a_loader_without_workers_and_a_disabled_compile_are_as_asked(workers: Workers) -> None:
    source = (
        "import torch\nf = torch.compile(torch.sin, disable=True)\n"
        "print(f is torch.sin, list(torch.utils.data.DataLoader([1, 2])))\n"
    )
    trace = workers.trace(source)
    assert printed(trace, "stdout") == run_plain(source)["printed"]
    assert events(trace, "replaced") == []


def test_a_backend_that_does_not_exist_raises_what_torch_raises(workers: Workers) -> None:
    source = (
        "import torch\nprint('eager' in torch.compiler.list_backends())\n"
        "try:\n    torch.compile(torch.sin, backend='nonsense')(torch.ones(1))\n"
        "except Exception as error:\n    print(type(error).__name__, str(error).split('.')[0])\n"
    )
    trace = workers.trace(source)
    assert printed(trace, "stdout") == run_plain(source)["printed"]
    assert events(trace, "replaced") == []
