"""Results that web processes keep for each other, in the broker: for an hour, and no more bytes than one process keeps.

What is read there is believed only if a process with the same secret wrote it under this very key, and if it is a
trace.
"""

import asyncio
import zlib
from contextlib import suppress

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from server.pool.remote.shared_broker import SIGNATURE_SIZE, MessageSigner, SharedBroker
from server.saved.large_traces import TraceProcessor, unpacked_size
from server.wire.problems import ProblemError

PREFIX = "gradbox:kept:"
TTL_SECONDS = 3600
"""Seconds."""

MAX_SIZE = 1 << 20
"""Bytes of a compressed trace; a larger one is not shared."""

MAX_WAIT = 3.0
"""Seconds for reading a trace; a program whose trace takes longer is run instead."""

STORE_SCRIPT = """
local index, sizes, name, entry = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local seconds, capacity = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(redis.call('TIME')[1])
local total = tonumber(redis.call('HGET', sizes, '') or '0') or 0

local function drop(other)
  total = total - (tonumber(redis.call('HGET', sizes, other) or '0') or 0)
  redis.call('HDEL', sizes, other)
  redis.call('ZREM', index, other)
  redis.call('DEL', ARGV[5] .. other)
end

for _, other in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now)) do drop(other) end
drop(name)
while total + #entry > capacity do
  local oldest = redis.call('ZRANGE', index, 0, 0)[1]
  if not oldest then break end
  drop(oldest)
end
if redis.call('ZCARD', index) == 0 then total = 0 end
redis.call('SET', ARGV[5] .. name, entry, 'EX', seconds)
redis.call('ZADD', index, now + seconds, name)
redis.call('HSET', sizes, name, #entry, '', total + #entry)
return 1
"""
"""Stores an entry, and drops the oldest ones past the capacity. Keys: those by age, their sizes. Arguments: the name,
the entry, seconds, bytes of all entries, what the entries' keys begin with."""


class SharedResultCache:
    """Results that web processes share through Redis.

    secret: the secret of the web processes
    capacity: bytes of all results
    max_unpacked: bytes of one result, unpacked
    """

    def __init__(self, broker: SharedBroker, secret: bytes, capacity: int, max_unpacked: int) -> None:
        self._broker, self._capacity, self._max_unpacked = broker, capacity, max_unpacked
        self._signer = MessageSigner(secret, b"kept results")
        self._store_script = broker.redis.register_script(STORE_SCRIPT)
        self._reader = TraceProcessor()

    async def get(self, key: str) -> bytes | None:
        """The result that some process keeps under this key; None where there is none, or none that can be believed."""
        last = SIGNATURE_SIZE + MAX_SIZE  # one byte past the largest
        entry = await self._broker.run_command(lambda: self._broker.redis.getrange(PREFIX + key, 0, last))
        if not entry or len(entry) > last:
            return None
        body = self._signer.verify(key, entry)
        if body is None or not await self._is_valid_trace(body):
            return None
        return bytes(body)

    async def put(self, key: str, body: bytes) -> None:
        """Keep a result, where it is not too large and the broker answers."""
        if len(body) > min(MAX_SIZE, self._capacity // 4):
            return
        keys = [PREFIX + "index", PREFIX + "sizes"]
        arguments = [key, self._signer.sign(key, body), TTL_SECONDS, self._capacity, PREFIX]
        await self._broker.run_command(lambda: self._store_script(keys=keys, args=arguments))

    async def _is_valid_trace(self, body: bytes) -> bool:
        with suppress(TimeoutError, ProblemError, ValueError):
            async with asyncio.timeout(MAX_WAIT):
                if await asyncio.to_thread(is_single_gzip_stream, body, self._max_unpacked):
                    return bool(await self._reader.run_function("validate", body))
        return False


def is_single_gzip_stream(body: bytes, max_unpacked: int) -> bool:
    """Whether it is one gzip stream of at most so many bytes, and says truly how many they are."""
    stream = zlib.decompressobj(wbits=GZIP_WINDOW_BITS)
    try:
        size = len(stream.decompress(body, max_unpacked))
    except zlib.error:
        return False
    return stream.eof and not stream.unused_data and size == unpacked_size(body)
