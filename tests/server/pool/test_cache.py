"""Which results are stored, under what key, for how long; and that no clock and no chance gets among them."""

import random
from collections import OrderedDict
from typing import Any

import pytest

from gradbox.assembly.assemble import AssembledTrace
from gradbox.wire.api import Job
from gradbox.wire.program import Program
from gradbox.wire.trace import Cost, Focus, Header, Outcome, Runtime
from server.pool.cache import ResultCache, result_cache_key

VERSIONS: dict[str, Any] = {"torch": "2.13.0", "numpy": "2.4.6", "python": "3.11.7"}
RUNTIME = Runtime(**VERSIONS, tracer="0", device="cpu", seed=0, hash_seed=0, threads=1, limits={})


def ended(focus: Focus | None = None, deterministic: bool = True, **outcome: Any) -> AssembledTrace:
    reasons = {"error": {"type": "E", "message": ""}, "stopped": {"limit": "wall", "value": 1}}
    ending = Outcome.model_validate({**reasons, **outcome} if outcome else {"status": "finished"})
    header = Header(program=Program(source="x = 1\n"), runtime=RUNTIME)
    return AssembledTrace(header, [], "", ending, Cost(wall_ms=1, cpu_ms=1, peak_bytes=1), focus, deterministic)


@pytest.mark.parametrize(
    "change",
    [
        {"source": "x = 2\n"},
        {"device": "cuda"},
        {"seed": 1},
        {"limits": {"steps": 7}},
        {"focus": {"loop": 1, "iteration": 2}},
        {"focus": {"loop": 1, "iteration": 3}},
        {"focus": {"counts": {3: 4}}},
        {"focus": {"storage": "s1", "from": 0, "to": 9}},
    ],
)
def test_every_field_of_a_job_is_in_its_key(change: dict[str, Any]) -> None:
    job = {"source": "x = 1\n", "limits": {"steps": 9, "wall": 1.5}}
    plain, changed = (result_cache_key(Job.model_validate(fields), VERSIONS) for fields in (job, {**job, **change}))
    assert plain != changed and len(plain) == len(changed) == 64
    assert changed == result_cache_key(Job.model_validate({**job, **change}), dict(reversed(VERSIONS.items())))


def test_versions_of_what_ran_the_program_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(source="x = 1\n")
    keys = {result_cache_key(job, VERSIONS), result_cache_key(job, {})} | {
        result_cache_key(job, {**VERSIONS, name: "0"}) for name in VERSIONS
    }
    monkeypatch.setattr("server.pool.cache.__version__", "another")
    assert len(keys | {result_cache_key(job, VERSIONS)}) == 6


def test_the_key_ignores_the_order_of_limits_and_takes_lone_surrogates() -> None:
    assert result_cache_key(Job(source="", limits={"a": 1, "b": 2}), VERSIONS) == result_cache_key(
        Job(source="", limits={"b": 2, "a": 1}), {**VERSIONS}
    )
    assert result_cache_key(Job(source="\ud800"), VERSIONS) != result_cache_key(Job(source="\udfff"), VERSIONS)


@pytest.mark.parametrize("seed", range(30))
def test_the_least_recently_used_go_first(seed: int) -> None:
    chance = random.Random(seed)
    room = chance.randrange(20, 400)
    cache, model = ResultCache(room), OrderedDict[str, bytes]()
    hits = misses = 0
    for _ in range(300):
        name = chance.choice("abcdefghij")
        if chance.random() < 0.5:
            cached = cache.get(name)
            assert cached == model.get(name)
            hits, misses = hits + (cached is not None), misses + (cached is None)
            if cached is not None:
                model.move_to_end(name)
        else:
            body = bytes(chance.randrange(1, room // 3))
            cache.put(name, body)
            model.pop(name, None)
            if len(body) <= room // 4:
                model[name] = body
            while sum(map(len, model.values())) > room:
                model.popitem(last=False)
        assert cache.size == sum(map(len, model.values())) <= room
        assert (cache.hits, cache.misses) == (hits, misses)


def test_one_result_does_not_push_out_all_others() -> None:
    cache = ResultCache(100)
    for name in "abc":
        cache.put(name, bytes(25))
    cache.put("d", bytes(26))
    assert [cache.get(name) is not None for name in "abcd"] == [True, True, True, False]
    cache.put("a", bytes(26))
    assert cache.get("a") is None and cache.size == 50, "what was there is another program's result by now"


@pytest.mark.parametrize(
    ("stored", "outcome"),
    [
        (True, {"status": "finished"}),
        (True, {"status": "raised"}),
        (True, {"status": "refused"}),
        *(
            (True, {"status": "stopped", "stopped": {"limit": at, "value": 1}})
            for at in ("steps", "output", "tensors", "trace")
        ),
        *((False, {"status": "stopped", "stopped": {"limit": at, "value": 1}}) for at in ("wall", "cpu", "memory")),
        (False, {"status": "stopped"}),
        (False, {"status": "crashed", "signal": 11}),
        (False, {"status": "cancelled"}),
        (False, {"status": "lost"}),
    ],
)
def test_an_ending_that_the_program_alone_decides_is_cached(stored: bool, outcome: dict[str, Any]) -> None:
    assert ended(**outcome).is_cacheable() is stored


def test_a_result_that_depends_on_a_clock_or_on_chance_is_not_cached() -> None:
    assert not ended(deterministic=False).is_cacheable()
    assert ended(deterministic=False, status="refused").is_cacheable(), "it did not run"


def test_a_program_that_was_run_twice_and_differed_is_not_kept() -> None:
    for repeatable in (True, False):
        assert ended(focus=Focus(counts={1: 2}, repeatable=repeatable)).is_cacheable() is repeatable
