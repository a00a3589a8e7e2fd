"""What happens to the queue in one step, whichever of many processes asks for it: scripts that the broker runs.

The keys of a queue begin with `gradbox:QUEUE:`. `waiting` is a sorted set of runs by their tag, `running` one by the second
of the last heartbeat, `tickets` has who asked. The order is start-time fair queueing, as in `server.pool.fair_queue`: the
k-th run that waits for a client has the tag `start + k`, and the lowest tag is next; among equal ones the network's tag, in
the fraction, then the time that a run's name begins with.
"""

_QUEUE_FUNCTIONS = """
local prefix = KEYS[1]
local waiting, running, tickets = prefix .. 'waiting', prefix .. 'running', prefix .. 'tickets'
local tags = prefix .. 'tags'
local now = redis.call('TIME')
now = now[1] + now[2] / 1e6

local function virtual(kind)
  return tonumber(redis.call('HGET', tags, 'now ' .. kind) or '0')
end

local function next_tag(kind, flow)
  local tag = math.max(virtual(kind), tonumber(redis.call('HGET', tags, kind .. ' ' .. flow) or '0')) + 1
  redis.call('HSET', tags, kind .. ' ' .. flow, tag)
  return tag
end

local function forget_tag(kind, flow)
  local tag = redis.call('HGET', tags, kind .. ' ' .. flow)
  if tag and tonumber(tag) <= virtual(kind) then redis.call('HDEL', tags, kind .. ' ' .. flow) end
end

local function remove(run)
  local ticket = redis.call('HGET', tickets, run)
  redis.call('ZREM', waiting, run)
  redis.call('HDEL', tickets, run)
  redis.call('DEL', 'gradbox:job:' .. run)
  return ticket and cjson.decode(ticket)
end

local function withdraw(run)
  local ticket = remove(run)
  if not ticket then return end
  for _, kind in ipairs({'client', 'network'}) do
    local key = kind .. ' ' .. ticket[kind]
    if redis.call('HGET', tags, key) == tostring(ticket[kind .. '_tag']) then redis.call('HINCRBY', tags, key, -1) end
    forget_tag(kind, ticket[kind])
  end
end
"""

SUBMIT = (
    _QUEUE_FUNCTIONS
    + """
local submission = cjson.decode(ARGV[1])
local run, joins = submission.run, 'gradbox:joins:' .. submission.key
if redis.call('ZSCORE', waiting, run) then return {'queued', tostring(redis.call('ZRANK', waiting, run))} end
if redis.call('ZSCORE', running, run) then return {'queued', '0'} end
if submission.key ~= '' then
  local other = redis.call('GET', joins)
  if other and redis.call('EXISTS', 'gradbox:cancel:' .. other) == 0 then
    local beat = redis.call('ZSCORE', running, other)
    if redis.call('ZSCORE', waiting, other) or (beat and now - beat < submission.lost) then
      redis.call('INCR', 'gradbox:readers:' .. other)
      return {'joined', other}
    end
  end
end
redis.call('ZREMRANGEBYSCORE', running, '-inf', now - submission.lost)
local free = math.max(0, submission.capacity - redis.call('ZCARD', running))
local count = redis.call('ZCARD', waiting)
if not submission.front and count >= free then
  local of_client, networks = 0, {[submission.network] = 0}
  for _, text in ipairs(redis.call('HVALS', tickets)) do
    local ticket = cjson.decode(text)
    if ticket.client == submission.client then of_client = of_client + 1 end
    networks[ticket.network] = (networks[ticket.network] or 0) + 1
  end
  if of_client >= submission.client_limit + free or networks[submission.network] >= submission.network_limit + free then
    return {'busy', tostring(count)}
  end
  if count >= submission.limit + free then
    local largest, most = '', 0
    for network, number in pairs(networks) do
      if number > most then largest, most = network, number end
    end
    if most <= networks[submission.network] + 1 then return {'busy', tostring(count)} end
    for _, other in ipairs(redis.call('ZREVRANGE', waiting, 0, -1)) do
      if cjson.decode(redis.call('HGET', tickets, other)).network == largest then
        withdraw(other)
        redis.call('XADD', 'gradbox:run:' .. other, '*', 'kind', 'busy')
        redis.call('EXPIRE', 'gradbox:run:' .. other, submission.kept)
        break
      end
    end
  end
end
local tag, ticket = -1, {client = submission.client, network = submission.network, client_tag = -1, network_tag = -1}
if not submission.front then
  ticket.client_tag = next_tag('client', submission.client)
  ticket.network_tag = next_tag('network', submission.network)
  tag = ticket.client_tag + ticket.network_tag % 100000 / 100000
end
redis.call('SET', 'gradbox:job:' .. run, ARGV[2], 'EX', submission.kept)
redis.call('HSET', tickets, run, cjson.encode(ticket))
redis.call('ZADD', waiting, tag, run)
redis.call('SET', 'gradbox:readers:' .. run, 1, 'EX', submission.kept)
if submission.key ~= '' then redis.call('SET', joins, run, 'EX', submission.kept) end
redis.call('XADD', submission.wake, 'MAXLEN', 1, '*', 'kind', 'wake')
redis.call('EXPIRE', submission.wake, 60)
if redis.call('LLEN', KEYS[2]) < submission.limit + submission.capacity then redis.call('LPUSH', KEYS[2], ARGV[3]) end
return {'queued', tostring(redis.call('ZRANK', waiting, run))}
"""
)
"""Puts a run into the queue, or joins the one of the same program, and has a worker look. Keys: the prefix, Celery's list.
Arguments: `Submission` as JSON, the message, Celery's message.

Returns `queued` and how many are before it, `joined` and the run, or `busy` and how many wait.
"""

TAKE = (
    _QUEUE_FUNCTIONS
    + """
while true do
  local run = redis.call('ZRANGE', waiting, 0, 0)[1]
  if not run then return false end
  local message = redis.call('GET', 'gradbox:job:' .. run)
  local ticket = remove(run)
  if ticket and ticket.client_tag > 0 then
    for _, kind in ipairs({'client', 'network'}) do
      local tag = math.max(virtual(kind), ticket[kind .. '_tag'])
      redis.call('HSET', tags, 'now ' .. kind, tag)
      forget_tag(kind, ticket[kind])
    end
  end
  if message then
    local stream = 'gradbox:run:' .. run
    redis.call('ZADD', running, now, run)
    redis.call('XADD', stream, '*', 'kind', 'start', 'worker', ARGV[1], 'versions', ARGV[2])
    redis.call('EXPIRE', stream, ARGV[3])
    return {run, message}
  end
end
"""
)
"""Takes the run whose turn it is, counts it as running, and says so in its stream. Keys: the prefix. Arguments: the worker, its
versions as JSON, seconds for which the stream is kept. Returns the run and its message, or nothing.
"""

LEAVE = (
    _QUEUE_FUNCTIONS
    + """
if redis.call('DECR', 'gradbox:readers:' .. ARGV[1]) > 0 then return 'others' end
redis.call('DEL', 'gradbox:readers:' .. ARGV[1])
if redis.call('ZSCORE', waiting, ARGV[1]) then
  withdraw(ARGV[1])
  return 'withdrawn'
end
redis.call('SET', 'gradbox:cancel:' .. ARGV[1], 1, 'EX', ARGV[2])
return 'cancelled'
"""
)
"""One reader less; without any, the run leaves the queue or is cancelled. Keys: the prefix. Arguments: the run, seconds.

Returns `others` where somebody still waits for it, `withdrawn`, or `cancelled`.
"""

HEARTBEAT = (
    _QUEUE_FUNCTIONS
    + """
local cancelled = {}
for _, run in ipairs(ARGV) do
  redis.call('ZADD', running, 'XX', now, run)  -- it may have been released since
  if redis.call('EXISTS', 'gradbox:cancel:' .. run) == 1 then table.insert(cancelled, run) end
end
return cancelled
"""
)
"""The heartbeat of runs. Keys: the prefix. Arguments: the runs. Returns those that are cancelled."""

RELEASE = (
    _QUEUE_FUNCTIONS
    + """
redis.call('ZREM', running, ARGV[1])
return redis.call('DEL', 'gradbox:cancel:' .. ARGV[1])
"""
)
"""A run has ended. Keys: the prefix. Arguments: the run."""
