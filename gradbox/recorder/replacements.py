"""What a run does differently from what the program asks for; each time an event says so.

`torch.compile` returns the plain function, because the statements of a compiled one could not be followed. A
`DataLoader` with workers loads its data itself, because there is only one process. Its iterator is torch's own iterator
for workers, so the order of batches, prefetching, the end of a stream and persistence are torch's. A worker here
consists of its own copy of the data set, its own random generators and its own `get_worker_info`; it runs when the
program asks for its batch.
"""

import contextlib
import copy
import functools
import io
import pickle
import random
import sys
import types
from collections import deque
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn, Self

import numpy as np
import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import DataLoader, IterDataPipe, MapDataPipe, _utils
from torch.utils.data.dataloader import (
    _BaseDataLoaderIter,
    _DatasetKind,
    _MultiProcessingDataLoaderIter,
    _sharding_worker_init_fn,
)
from torch.utils.data.graph_settings import apply_random_seed

from gradbox.recorder.probes.ops import TORCH_FOLDER
from gradbox.recorder.probes.probe import ProbeContext

_TYPES_SHARED_BY_WORKERS = (
    torch.Tensor, torch.UntypedStorage, torch.TypedStorage, torch.Generator, np.ndarray, np.random.Generator, type,
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType,
)  # fmt: skip
"""Types of objects that a worker's copy of a data set shares with the program's. Everything else is copied."""


class SingleProcessLoaderIterator(_MultiProcessingDataLoaderIter):
    """Iterates over a loader with workers. A task runs only when its result is wanted."""

    def __init__(self, loader: Any) -> None:
        _BaseDataLoaderIter.__init__(self, loader)
        self._prefetch_factor, self._in_order = loader.prefetch_factor, loader.in_order
        self._shutdown = False
        initialize = loader.worker_init_fn
        if isinstance(self._dataset, IterDataPipe | MapDataPipe):
            initialize = functools.partial(_sharding_worker_init_fn, initialize, self._world_size, self._rank)
        self._tasks: deque[tuple[int, Any]] = deque()
        self._index_queues: Any = [WorkerTaskQueue(self._tasks, number) for number in range(self._num_workers)]
        self._workers: Any = [DataLoaderWorker(self, loader, number, initialize) for number in range(self._num_workers)]
        self._reset(loader, first_iter=True)

    def _get_data(self) -> tuple[Any, Any]:
        """The result of the oldest task, with its index. Workers at the end of their stream are not asked."""
        while True:
            number, task = self._tasks.popleft()
            if isinstance(task, _utils.worker._ResumeIteration):
                self._workers[number].restart_dataset(task.seed)
                return task, None
            index, wanted = task
            if not self._workers[number].is_at_end:
                batch = self._workers[number].load_batch(wanted)
                if self._pin_memory and not isinstance(batch, ExceptionWrapper):
                    batch = _utils.pin_memory.pin_memory(batch, self._pin_memory_device)  # type: ignore[no-untyped-call]
                return index, batch

    def _mark_worker_as_unavailable(self, worker_id: int, shutdown: bool = False) -> None:  # noqa: ARG002, for the name is torch's
        self._workers_status[worker_id] = False

    def _shutdown_workers(self) -> None:
        self._shutdown = True
        self._tasks.clear()
        self._workers.clear()


class WorkerTaskQueue:
    """Replaces the queue of one worker in torch's iterator: it adds tasks to the common list."""

    def __init__(self, tasks: deque[tuple[int, Any]], number: int) -> None:
        self._tasks, self._number = tasks, number

    def put(self, task: Any) -> None:
        self._tasks.append((self._number, task))


class DataLoaderWorker:
    """Does what a worker process does, step by step as in `torch.utils.data._utils.worker._worker_loop`."""

    def __init__(self, iterator: Any, loader: Any, number: int, initialize: Any) -> None:
        self._number, self.is_at_end = number, False
        self._kind, self._drop_last = iterator._dataset_kind, loader.drop_last
        self._auto_collation, self._collate = loader._auto_collation, loader.collate_fn
        self._error: BaseException | None = None
        dataset = copy_dataset_for_worker(iterator._dataset)
        seed = iterator._base_seed + number
        self._states: Any = None
        self._info = _utils.worker.WorkerInfo(id=number, num_workers=loader.num_workers, seed=seed, dataset=dataset)
        with self._with_worker_state():
            random.seed(seed)
            torch.manual_seed(seed)
            np.random.seed(_utils.worker._generate_state(iterator._base_seed, number))  # type: ignore[no-untyped-call]
            self._dataset = self._seed_dataset(dataset, iterator._shared_seed)
            try:
                if initialize is not None:
                    initialize(number)
                self._fetcher = self._make_fetcher()
            except Exception as error:  # the first batch raises it
                self._error = error

    def load_batch(self, wanted: Any) -> Any:
        """A batch as it would arrive in the program's process, or the error that was raised, or the end of the
        stream."""
        if self._error is not None:
            error, self._error = self._error, None
            return DatasetError(error)
        with self._with_worker_state():
            try:
                batch = self._fetcher.fetch(wanted)
            except Exception as error:
                if isinstance(error, StopIteration) and self._kind == _DatasetKind.Iterable:
                    self.is_at_end = True
                    return _utils.worker._IterableDatasetStopIteration(self._number)
                return DatasetError(error)
        return batch_as_received(batch)

    def restart_dataset(self, shared_seed: int | None) -> None:
        """Restart the data set."""
        self.is_at_end = False
        with self._with_worker_state():
            self._dataset = self._seed_dataset(self._dataset, shared_seed)
            self._fetcher = self._make_fetcher()

    def _make_fetcher(self) -> Any:
        return _DatasetKind.create_fetcher(  # type: ignore[no-untyped-call]
            self._kind, self._dataset, self._auto_collation, self._collate, self._drop_last
        )

    def _seed_dataset(self, dataset: Any, shared_seed: int | None) -> Any:
        if not isinstance(dataset, IterDataPipe) or shared_seed is None:
            return dataset
        generator = torch.Generator()
        generator.manual_seed(shared_seed)
        return apply_random_seed(dataset, generator)

    @contextlib.contextmanager
    def _with_worker_state(self) -> Iterator[None]:
        """Inside the block, random generators and `get_worker_info` are this worker's, and a batch does not ask for
        shared memory."""
        outside, info = get_random_states(), _utils.worker._worker_info
        if self._states is not None:
            set_random_states(self._states)
        _utils.worker._worker_info = self._info
        setattr(torch.UntypedStorage, "_new_shared", classmethod(new_unshared_storage))
        try:
            yield
        finally:
            delattr(torch.UntypedStorage, "_new_shared")  # the one of its base class
            _utils.worker._worker_info = info
            self._states = get_random_states()
            set_random_states(outside)


class DatasetError(ExceptionWrapper):
    """An error of a data set, raised as it is, since its line is in this process."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def reraise(self) -> NoReturn:
        raise self._error


class BatchPickler(ForkingPickler):
    """Pickles a batch as for another process. `storages` are the copies of memory that go with it."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.storages: dict[int, torch.UntypedStorage] = {}

    def persistent_id(self, value: Any) -> int | None:
        if not isinstance(value, torch.UntypedStorage):
            return None
        if value._cdata not in self.storages:
            self.storages[value._cdata] = value.clone()  # type: ignore[no-untyped-call]
        return int(value._cdata)


class DatasetPickler(pickle.Pickler):
    """Pickles a data set for a worker in the same process. `shared` is what both share."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.shared: dict[int, Any] = {}

    def persistent_id(self, value: Any) -> int | None:
        if not isinstance(value, _TYPES_SHARED_BY_WORKERS):
            return None
        self.shared[id(value)] = value
        return id(value)


class SharingUnpickler(pickle.Unpickler):
    """Unpickles a batch or a data set.

    known: the objects behind persistent ids
    """

    def __init__(self, data: bytes, known: dict[int, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._known = known

    def persistent_load(self, name: int) -> Any:
        return self._known[name]


def batch_as_received(batch: Any) -> Any:
    """A batch as it arrives from another process: equal, in memory of its own, each tensor at version 1."""
    file = io.BytesIO()
    pickler = BatchPickler(file)
    pickler.dump(batch)
    return SharingUnpickler(file.getvalue(), dict(pickler.storages)).load()


def copy_dataset_for_worker(dataset: Any) -> Any:
    """A copy of a data set as a forked process would have it; tensors, arrays and functions are shared.

    What can't be copied is shared too.
    """
    file = io.BytesIO()
    pickler = DatasetPickler(file)
    try:
        pickler.dump(dataset)
        return SharingUnpickler(file.getvalue(), pickler.shared).load()
    except Exception:
        pass
    try:
        return copy.copy(dataset)
    except Exception:
        return dataset


def get_random_states() -> tuple[Any, ...]:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()


def set_random_states(states: tuple[Any, ...]) -> None:
    torch.set_rng_state(states[0])
    random.setstate(states[1])
    np.random.set_state(states[2])


def new_unshared_storage(cls: type[torch.UntypedStorage], size: int, *, device: Any = "cpu") -> torch.UntypedStorage:
    """Replaces the allocation of shared memory, which a confined process can't have."""
    return cls(size, device=device)


COMPILE_FORWARDING_FILES = (TORCH_FOLDER + "nn/modules/module.py", TORCH_FOLDER + "compiler/__init__.py")
"""Files in which `nn.Module.compile` and `torch.compiler.compile` pass on what the program asks for. Other callers in
torch really want compilation."""

disable_compile: Any = torch.compiler.disable


class TorchReplacements:
    """Replaces both functions while entered. With `only_compile_replaced` it replaces `torch.compile` alone and lets a
    loader have its workers."""

    def __init__(self, context: ProbeContext) -> None:
        self._context = context
        self._compile: Any = None
        self._get_iterator: Any = None
        self._mark_step_begin: Any = None

    def __enter__(self) -> Self:
        self._replace_torch_compile()
        self._get_iterator = DataLoader._get_iterator
        setattr(DataLoader, "_get_iterator", self._make_get_iterator_replacement())
        return self

    def __exit__(self, *_: object) -> None:
        setattr(DataLoader, "_get_iterator", self._get_iterator)
        self._restore_torch_compile()

    @contextlib.contextmanager
    def only_compile_replaced(self) -> Iterator[None]:
        self._replace_torch_compile()
        try:
            yield
        finally:
            self._restore_torch_compile()

    def _replace_torch_compile(self) -> None:
        self._compile, self._mark_step_begin = torch.compile, torch.compiler.cudagraph_mark_step_begin
        setattr(torch, "compile", self._make_compile_replacement())
        # nothing compiled has a step; the function would import the compiler
        setattr(torch.compiler, "cudagraph_mark_step_begin", functools.wraps(self._mark_step_begin)(lambda: None))

    def _restore_torch_compile(self) -> None:
        setattr(torch, "compile", self._compile)
        setattr(torch.compiler, "cudagraph_mark_step_begin", self._mark_step_begin)

    def _make_compile_replacement(self) -> Any:
        original = self._compile

        @functools.wraps(original)
        def compile_nothing(model: Any = None, **options: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            if caller.startswith(TORCH_FOLDER) and caller not in COMPILE_FORWARDING_FILES:
                return original(model, **options)
            if model is None:
                return functools.partial(compile_nothing, **options)
            check_compile_options(**options)
            if options.get("disable"):
                return model
            self._context.observation.append_log_entry({"kind": "event", "event": "replaced", "what": "compile"})
            return disable_compile(model)

        return compile_nothing

    def _make_get_iterator_replacement(self) -> Any:
        original, context = self._get_iterator, self._context

        @functools.wraps(original)
        def _get_iterator(self: Any) -> Any:
            if self.num_workers == 0:
                return original(self)
            context.observation.append_log_entry(
                {"kind": "event", "event": "replaced", "what": "workers", "count": self.num_workers}
            )
            return SingleProcessLoaderIterator(self)

        return _get_iterator


def check_compile_options(
    backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None, **_: Any
) -> None:
    """Raise what torch.compile raises for an unknown mode or backend, or for a mode together with options.

    The function itself can't be called: it creates a folder for its results first.
    """
    if mode is not None and options is not None:
        message = "Either mode or options can be specified, but both can't be specified at the same time."
        raise RuntimeError(message)
    if backend in (None, "inductor") and mode not in (None, "default"):
        from torch._inductor import list_mode_options  # noqa: PLC0415 it takes seconds, and few programs compile

        list_mode_options(mode)
    elif isinstance(backend, str) and backend != "inductor":
        from torch._dynamo.backends.registry import lookup_backend  # noqa: PLC0415 as above

        lookup_backend(backend)
