"""The queue of programs for a GPU, on a machine without one: stand-ins replace its workers and the driver."""

import asyncio
import os
import resource
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.cluster.factories import create_pool
from server.pool import machine_workers
from server.pool.remote.pool import RemotePool
from server.pool.remote.worker import RemoteWorker
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.store.database import Database
from server.worker import gpu
from tests.support.brokers import SECRET, STAND_IN, RedisServer
from tests.support.waiting import eventually

pytest_plugins = ("tests.support.brokers",)

Work = Callable[[RemotePool, Callable[[str], RemoteWorker]], Coroutine[Any, Any, None]]


def with_pool(url: str, broker: RedisServer, work: Work) -> None:
    """Do this with a pool, and with what makes a worker of the queue gpu in this process, by what prepares its
    children."""
    settings = Settings({}, queue_url=url, secret=SECRET, sandbox="off")

    async def main() -> None:
        database = Database("", broker.folder / "data")
        pool: RemotePool = create_pool(settings, database)
        workers: list[RemoteWorker] = []

        def create(prepare: str) -> RemoteWorker:
            workers.append(RemoteWorker(settings, "gpu", pool._blobs, prepare))
            return workers[-1]

        await pool.start()
        try:
            await pool.wait_until_booted()
            await work(pool, create)
        finally:
            for worker in workers:
                await worker.close()
            await pool.close()
            await database.close()

    asyncio.run(main())


@pytest.mark.slow
def test_programs_for_a_gpu_have_a_queue_and_a_process_of_their_own(
    remote_workers: str, broker: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found_one() -> tuple[list[str], int, str]:
        return ["a stand-in"], 8 << 30, ""

    async def run(pool: RemotePool) -> Trace:
        return (await pool.run_job(Job(source="gpu", device="cuda", limits={}))).decoded()

    async def work(pool: RemotePool, create: Callable[[str], RemoteWorker]) -> None:
        assert pool.devices == ("cpu",)
        monkeypatch.setattr(machine_workers, "find_gpus", found_one)
        worker = create("tests.support.stand_in_recorder:prepare_with_gpu")
        await worker.start()
        await eventually(lambda: pool.devices == ("cpu", "cuda"))
        running = [asyncio.create_task(run(pool)) for _ in range(2)]
        await eventually(lambda: pool.queues["gpu"].waiting_count == 2 and pool.queues["gpu"].longest_wait_seconds > 0)
        assert (pool.queues["cpu"].waiting_count, pool.queues["cpu"].longest_wait_seconds) == (0, 0)
        await worker.run_waiting_programs()
        traces = await asyncio.gather(*running)
        assert [trace.runtime.worker for trace in traces] == [worker.name] * 2
        processes = [str(trace.steps[0].value).split(" ", 1) for trace in traces]
        assert len({pid for pid, _ in processes}) == 2
        assert all(made_ready == f"[{pid}]" for pid, made_ready in processes), processes

    with_pool(remote_workers, broker, work)


@pytest.mark.slow
def test_a_gpu_worker_without_a_gpu_says_so(remote_workers: str, broker: RedisServer) -> None:
    async def work(pool: RemotePool, create: Callable[[str], RemoteWorker]) -> None:
        with pytest.raises(WorkersUnavailable, match="this machine has no GPU"):
            await create(STAND_IN).start()
        with pytest.raises(WorkersUnavailable, match="there is no gpu worker now"):
            await pool.run_job(Job(source="finish", device="cuda"))

    with_pool(remote_workers, broker, work)


@pytest.mark.parametrize(("memory", "share"), [(4 << 30, 0.25), (64 << 30, 1.0)])
def test_a_program_has_its_share_of_the_memory_before_it_has_a_context_to_use(
    monkeypatch: pytest.MonkeyPatch, memory: int, share: float
) -> None:
    done: list[Any] = []
    cuda = SimpleNamespace(
        init=lambda: done.append("init"),
        device_count=lambda: 2,
        get_device_properties=lambda _: SimpleNamespace(total_memory=16 << 30),
        set_per_process_memory_fraction=lambda share, index: done.append((share, index)),
    )
    monkeypatch.setattr(gpu, "torch", SimpleNamespace(cuda=cuda, device=torch.device))
    monkeypatch.setattr(gpu, "kernels_for_device", lambda device: done.append(str(device)))
    monkeypatch.setattr(os, "environ", {})
    gpu.initialize_gpu(memory, "0,1")
    assert os.environ == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert done == ["init", (share, 0), (share, 1), "cuda:0", "cuda:1"]


@pytest.mark.parametrize(("memory", "spares"), [(4 << 30, 1), (6 << 30, 2), (8 << 30, 4), (80 << 30, 4)])
def test_a_small_gpu_has_fewer_children_that_wait(memory: int, spares: int) -> None:
    assert machine_workers.gpu_spare_count(memory, 4 << 30) == spares


def test_torch_for_cuda_finds_no_gpu_once_that_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []

    def count_gpus() -> int:
        limits.append(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        return 0

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", count_gpus, raising=False)
    monkeypatch.setattr(torch._C, "_cuda_init", lambda: None, raising=False)
    for name in ("_cached_device_count", "_is_in_bad_fork"):
        monkeypatch.setattr(torch.cuda, name, getattr(torch.cuda, name, None), raising=False)
    gpu.hide_gpu()
    assert limits == [0] and resource.getrlimit(resource.RLIMIT_NOFILE) == before, "the driver can open nothing"
    assert torch.cuda.device_count() == 0 and not torch.cuda._is_in_bad_fork()
    with pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
        torch._C._cuda_init()
