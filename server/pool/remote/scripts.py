"""Scripts that the broker runs, so that each change of the queue is atomic whichever process makes it.

The keys of a queue begin with `gradbox:QUEUE:`. `waiting` is a sorted set of runs by their place, and `running` one by
the second of the last heartbeat. `askers` holds who asks for each waiting run: JSON with `front`, whether it goes
before all others, and a list of `askers`, each with its id, its web process, its client, its network, its time of
arrival and the virtual times then. The order is that of `server.pool.fair_queue`, whose terms are used here. `bases`
holds the virtual times at second 0. What a flow was served and how long a network's run is expected to take have keys
of their own that expire.
"""

from server.pool.fair_queue import EXPECTED_SECONDS, FORGOTTEN_SECONDS
from server.pool.remote.messages import RUN_TTL

EXPECTED_TTL = 3600
"""Seconds for which the expected duration of a network's runs is remembered."""

_QUEUE_FUNCTIONS = (
    f"local FORGOTTEN, EXPECTED, EXPECTED_TTL, RUN_TTL = {FORGOTTEN_SECONDS}, {EXPECTED_SECONDS}, {EXPECTED_TTL}, "
    f"{RUN_TTL}\n"
    + """
local prefix = KEYS[1]
local waiting, running, tickets, bases = prefix .. 'waiting', prefix .. 'running', prefix .. 'askers', prefix .. 'bases'
local levels = {'network', 'client'}
local now = redis.call('TIME')
now = now[1] + now[2] / 1e6

local function decode(text)
  local valid, value = pcall(cjson.decode, text)
  return valid and type(value) == 'table' and value or nil
end

local function virtual(level)
  local base = tonumber(redis.call('HGET', bases, level) or '')
  if not base then
    base = -FORGOTTEN * now
    redis.call('HSET', bases, level, string.format('%.6f', base))
  end
  return base + FORGOTTEN * now
end

local function flow_of(level, asker)
  return level == 'network' and asker.network or asker.network .. ' ' .. asker.client
end

local function served_key(level, flow) return prefix .. 'served:' .. level .. ':' .. flow end

-- what was read by this script already
local served_tags, expected_seconds, read_tickets = {}, {}, {}

local function served(level, flow)
  local key = served_key(level, flow)
  if not served_tags[key] then served_tags[key] = tonumber(redis.call('GET', key) or '') or -math.huge end
  return served_tags[key]
end

local function set_served(level, flow, tag)
  local seconds = math.ceil(math.max(0, tag - virtual(level)) / FORGOTTEN) + RUN_TTL
  redis.call('SET', served_key(level, flow), string.format('%.6f', tag), 'EX', seconds)
  served_tags[served_key(level, flow)] = tag
end

local function expected(network)
  if not expected_seconds[network] then
    local known = redis.call('GET', prefix .. 'expected:' .. network) or redis.call('GET', prefix .. 'newcomers')
    expected_seconds[network] = tonumber(known or '') or EXPECTED
  end
  return expected_seconds[network]
end

local function is_asker(asker)
  return type(asker) == 'table' and type(asker.network) == 'string' and type(asker.client) == 'string'
    and type(asker.id) == 'string' and type(asker.web) == 'string' and type(asker.at) == 'number'
    and type(asker.entered) == 'table' and type(asker.entered.network) == 'number'
    and type(asker.entered.client) == 'number'
end

local function read_ticket(run)
  if read_tickets[run] then return read_tickets[run] end
  local text = redis.call('HGET', tickets, run)
  local ticket = text and decode(text)
  if not ticket then return nil end
  local askers = {}
  for _, asker in ipairs(type(ticket.askers) == 'table' and ticket.askers or {}) do
    if is_asker(asker) then table.insert(askers, asker) end
  end
  ticket.askers = askers
  read_tickets[run] = ticket
  return ticket
end

local function write_ticket(run, ticket)
  read_tickets[run] = ticket
  redis.call('HSET', tickets, run, cjson.encode(ticket))
end

local function remove(run)
  local ticket = read_ticket(run)
  read_tickets[run] = nil
  redis.call('ZREM', waiting, run)
  redis.call('HDEL', tickets, run)
  redis.call('DEL', 'gradbox:job:' .. run)
  return ticket
end

local function add_asker(ticket, asker)
  for _, other in ipairs(ticket.askers) do
    if other.id == asker.id then return end
  end
  asker.at, asker.entered = now, {network = virtual('network'), client = virtual('client')}
  table.insert(ticket.askers, asker)
end

-- the places of all that wait, by when their askers came
local function read_places()
  local places, front, rest = {}, {}, {}
  local runs = redis.call('ZRANGE', waiting, 0, -1)
  table.sort(runs)
  for _, run in ipairs(runs) do
    local ticket = read_ticket(run)
    if not ticket then
      remove(run)
    elseif ticket.front then
      table.insert(front, run)
    else
      if not ticket.askers[1] then table.insert(rest, run) end
      for _, asker in ipairs(ticket.askers) do table.insert(places, {run = run, asker = asker}) end
    end
  end
  table.sort(places, function(a, b)
    if a.asker.at ~= b.asker.at then return a.asker.at < b.asker.at end
    return a.run .. a.asker.id < b.run .. b.asker.id
  end)
  return places, front, rest
end

local function add_finish_tags(level, places)
  local last, counted = {}, {}
  for _, place in ipairs(places) do
    local flow = flow_of(level, place.asker)
    local key = flow .. ' ' .. place.run
    if not counted[key] then
      last[flow] = last[flow] or served(level, flow)
      last[flow] = math.max(place.asker.entered[level], last[flow]) + expected(place.asker.network)
      counted[key] = last[flow]
    end
    place[level] = counted[key]
  end
end

local function sort_by_tag(level, places)
  local sorted = {}
  for k, place in ipairs(places) do
    place.order = k
    sorted[k] = place
  end
  table.sort(sorted, function(a, b)
    if a[level] ~= b[level] then return a[level] < b[level] end
    return a.order < b.order
  end)
  return sorted
end

-- the runs that wait in their order, and the places in theirs
local function sort_by_turn()
  local places, front, rest = read_places()
  add_finish_tags('client', places)
  add_finish_tags('network', sort_by_tag('client', places))
  places = sort_by_tag('network', places)
  local runs, known = front, {}
  for _, place in ipairs(places) do
    if not known[place.run] then
      known[place.run] = true
      table.insert(runs, place.run)
    end
  end
  for _, run in ipairs(rest) do table.insert(runs, run) end
  return runs, places
end

local function place_of(run)
  return tostring(redis.call('ZRANK', waiting, run) or 0)
end

local function charges_key(run) return 'gradbox:charges:' .. run end

local function correct_charges(run, charges, is_over)
  local seconds = now - charges.at
  for _, charge in ipairs(charges) do
    local cost = seconds * charge.part
    if is_over or cost > charge.cost then
      local tag = served(charge.level, charge.flow)
      if tag == -math.huge then tag = virtual(charge.level) end
      set_served(charge.level, charge.flow, tag + cost - charge.cost)
      charge.cost = cost
    end
  end
end

local function read_charges(run)
  local text = redis.call('GET', charges_key(run))
  local record = text and decode(text)
  if not record or type(record.at) ~= 'number' or type(record.charges) ~= 'table' then return nil end
  record.charges.at = record.at
  return record.charges
end

local function write_charges(run, charges)
  local list = {}
  for _, charge in ipairs(charges) do table.insert(list, charge) end
  redis.call('SET', charges_key(run), cjson.encode({at = charges.at, charges = list}), 'EX', RUN_TTL)
end

local function charge_elapsed()
  for _, run in ipairs(redis.call('ZRANGE', running, 0, -1)) do
    local charges = read_charges(run)
    if charges then
      correct_charges(run, charges, false)
      write_charges(run, charges)
    end
  end
end

local function reorder()
  charge_elapsed()
  local runs, places = sort_by_turn()
  for first = 1, #runs, 100 do
    local scores = {}
    for k = first, math.min(first + 99, #runs) do
      table.insert(scores, k)
      table.insert(scores, runs[k])
    end
    redis.call('ZADD', waiting, unpack(scores))
  end
  return runs, places
end

-- places: those of the run that is served, the best first. others: those that still wait
local function charge_in_advance(run, places, others)
  local charges = {at = now}
  for _, level in ipairs(levels) do
    local first = places[1].asker
    local start = math.max(first.entered[level], served(level, flow_of(level, first)))
    local flows, count = {}, 0
    for _, place in ipairs(places) do
      local flow = flow_of(level, place.asker)
      if not flows[flow] or place.asker.at < flows[flow].at then
        if not flows[flow] then count = count + 1 end
        flows[flow] = place.asker
      end
    end
    for flow, asker in pairs(flows) do
      local cost = expected(asker.network) / count
      set_served(level, flow, math.max(asker.entered[level], served(level, flow)) + cost)
      table.insert(charges, {level = level, flow = flow, cost = cost, part = 1 / count})
    end
    for _, place in ipairs(others) do
      start = math.min(start, math.max(place.asker.entered[level], served(level, flow_of(level, place.asker))))
    end
    local passed = start - virtual(level)
    if passed > 0 then redis.call('HINCRBYFLOAT', bases, level, string.format('%.6f', passed)) end
  end
  write_charges(run, charges)
end
"""
)

SUBMIT_SCRIPT = (
    _QUEUE_FUNCTIONS
    + """
local submission = cjson.decode(ARGV[1])
local run, joins, asker = submission.run, 'gradbox:joins:' .. submission.key, submission.askers[1]
if redis.call('ZSCORE', waiting, run) then return {'queued', place_of(run)} end
if redis.call('ZSCORE', running, run) then return {'queued', '0'} end
if submission.key ~= '' then
  local other = redis.call('GET', joins)
  if other and redis.call('EXISTS', 'gradbox:cancel:' .. other) == 0 then
    local beat = redis.call('ZSCORE', running, other)
    local ticket = redis.call('ZSCORE', waiting, other) and read_ticket(other)
    if ticket or (beat and now - beat < submission.lost) then
      redis.call('INCR', 'gradbox:readers:' .. other)
      if ticket then
        add_asker(ticket, asker)
        write_ticket(other, ticket)
        reorder()
      end
      return {'joined', other}
    end
  end
end
redis.call('ZREMRANGEBYSCORE', running, '-inf', now - submission.lost)
local free = math.max(0, submission.capacity - redis.call('ZCARD', running))
local count = redis.call('ZCARD', waiting)

local function size(set)
  local number = 0
  for _ in pairs(set or {}) do number = number + 1 end
  return number
end

local function largest_network(wanted)
  local largest, most = nil, 0
  for network, runs in pairs(wanted) do
    local number = size(runs)
    if number > most or (number == most and largest and network < largest) then largest, most = network, number end
  end
  return largest, most
end

local function take_places(run, network)
  local ticket, left, taken = read_ticket(run), {}, {}
  for _, other in ipairs(ticket.askers) do
    if other.network == network then table.insert(taken, other.id) else table.insert(left, other) end
  end
  ticket.askers = left
  if left[1] then write_ticket(run, ticket) else remove(run) end
  redis.call('XADD', 'gradbox:run:' .. run, '*', 'kind', 'busy', 'askers', cjson.encode(taken))
  redis.call('EXPIRE', 'gradbox:run:' .. run, submission.kept)
end

if not submission.front and count >= free then
  charge_elapsed()
  local runs, places = sort_by_turn()
  local of_client, wanted, wants = {}, {}, {}  -- runs of the client; runs by network; networks and askers by run
  for _, place in ipairs(places) do
    local network = place.asker.network
    if place.asker.client == asker.client then of_client[place.run] = true end
    wanted[network] = wanted[network] or {}
    wanted[network][place.run] = true
    wants[place.run] = wants[place.run] or {all = 0}
    wants[place.run].all = wants[place.run].all + 1
    wants[place.run][network .. ' '] = (wants[place.run][network .. ' '] or 0) + 1
  end
  local waiting_of_network = size(wanted[asker.network])
  if size(of_client) >= submission.client_limit + free or waiting_of_network >= submission.network_limit + free then
    return {'busy', tostring(count)}
  end
  local taken, left = {}, count
  while left >= submission.limit + free do
    local largest, most = largest_network(wanted)
    if most <= waiting_of_network + 1 then return {'busy', tostring(count)} end
    local chosen
    for k = #runs, 1, -1 do
      local other = runs[k]
      if wanted[largest][other] then
        local others, all = wants[other].all - wants[other][largest .. ' '], wants[other].all
        if not chosen or others < chosen.others or (others == chosen.others and all < chosen.all) then
          chosen = {run = other, others = others, all = all}
        end
      end
    end
    table.insert(taken, {chosen.run, largest})
    wanted[largest][chosen.run] = nil
    wants[chosen.run].all = chosen.others
    if chosen.others == 0 then left = left - 1 end
  end
  for _, place in ipairs(taken) do take_places(place[1], place[2]) end
end
local ticket = {front = submission.front, askers = {}}
for _, other in ipairs(submission.askers) do add_asker(ticket, other) end
redis.call('SET', 'gradbox:job:' .. run, ARGV[2], 'EX', submission.kept)
write_ticket(run, ticket)
redis.call('ZADD', waiting, 0, run)
reorder()
redis.call('SET', 'gradbox:readers:' .. run, 1, 'EX', submission.kept)
if submission.key ~= '' then redis.call('SET', joins, run, 'EX', submission.kept) end
redis.call('XADD', submission.wake, 'MAXLEN', 1, '*', 'kind', 'wake')
redis.call('EXPIRE', submission.wake, 60)
if redis.call('LLEN', KEYS[2]) < submission.limit + submission.capacity then redis.call('LPUSH', KEYS[2], ARGV[3]) end
return {'queued', place_of(run)}
"""
)
"""Puts a run into the queue, or joins a waiting run of the same program, and wakes a worker. Keys: the prefix, Celery's
list. Arguments: `Submission` as JSON, the message, Celery's message. Returns `queued` and how many are ahead, `joined`
and the run, or `busy` and how many wait."""

SET_WAITING_CLIENTS_SCRIPT = (
    _QUEUE_FUNCTIONS
    + """
local run, web, list = ARGV[1], ARGV[2], cjson.decode(ARGV[3])
local ticket = redis.call('ZSCORE', waiting, run) and read_ticket(run)
if not ticket then return false end
local known, left = {}, {}
for _, asker in ipairs(list) do known[asker.id] = true end
for _, asker in ipairs(ticket.askers) do
  if asker.web ~= web or known[asker.id] then table.insert(left, asker) end
end
ticket.askers = left
for _, asker in ipairs(list) do add_asker(ticket, asker) end
write_ticket(run, ticket)
reorder()
return place_of(run)
"""
)
"""Sets who asks for a waiting run through this web process. Keys: the prefix. Arguments: the run, the web process, all
of its askers as JSON. Returns how many are ahead of the run, or nothing if it no longer waits."""

TAKE_SCRIPT = (
    _QUEUE_FUNCTIONS
    + """
while true do
  local runs, places = reorder()
  local run = runs[1]
  if not run then return false end
  local message = redis.call('GET', 'gradbox:job:' .. run)
  local mine, others = {}, {}
  for _, place in ipairs(places) do table.insert(place.run == run and mine or others, place) end
  remove(run)
  if message then
    if mine[1] then charge_in_advance(run, mine, others) end
    local stream = 'gradbox:run:' .. run
    redis.call('ZADD', running, now, run)
    redis.call('XADD', stream, '*', 'kind', 'start', 'worker', ARGV[1], 'versions', ARGV[2])
    redis.call('EXPIRE', stream, ARGV[3])
    reorder()
    return {run, message}
  end
end
"""
)
"""Takes the next run, counts it as running and announces that in its stream. Keys: the prefix. Arguments: the worker,
its versions as JSON, seconds for which the stream is kept. Returns the run and its message, or nothing."""

LEAVE_SCRIPT = (
    _QUEUE_FUNCTIONS
    + """
local run, web = ARGV[1], ARGV[3]
if redis.call('DECR', 'gradbox:readers:' .. run) > 0 then
  local ticket = redis.call('ZSCORE', waiting, run) and read_ticket(run)
  if ticket then
    local left = {}
    for _, asker in ipairs(ticket.askers) do
      if asker.web ~= web then table.insert(left, asker) end
    end
    ticket.askers = left
    write_ticket(run, ticket)
    reorder()
  end
  return 'others'
end
redis.call('DEL', 'gradbox:readers:' .. run)
if redis.call('ZSCORE', waiting, run) then
  remove(run)
  reorder()
  return 'withdrawn'
end
redis.call('SET', 'gradbox:cancel:' .. run, 1, 'EX', ARGV[2])
return 'cancelled'
"""
)
"""Removes a web process from a run's readers; when none is left, the run leaves the queue or is cancelled. Keys: the
prefix. Arguments: the run, seconds, the web process. Returns `others` if somebody still waits for it, `withdrawn`, or
`cancelled`."""

HEARTBEAT_SCRIPT = (
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
"""Renews the heartbeats of runs. Keys: the prefix. Arguments: the runs. Returns those that are cancelled."""

RELEASE_SCRIPT = (
    _QUEUE_FUNCTIONS
    + """
local run, was_cut_short = ARGV[1], ARGV[2] == '1'
local charges = read_charges(run)
if charges then
  local seconds = now - charges.at
  correct_charges(run, charges, true)
  for _, charge in ipairs(charges) do
    local key = prefix .. 'expected:' .. charge.flow
    if charge.level == 'network' and not (was_cut_short and seconds < expected(charge.flow)) then
      local known = tonumber(redis.call('GET', key) or '')
      if not known then
        known = seconds
        local newcomers = string.format('%.6f', (expected(charge.flow) + seconds) / 2)
        redis.call('SET', prefix .. 'newcomers', newcomers, 'EX', EXPECTED_TTL)
      end
      redis.call('SET', key, string.format('%.6f', (known + seconds) / 2), 'EX', EXPECTED_TTL)
    end
  end
  redis.call('DEL', charges_key(run))
end
redis.call('ZREM', running, run)
return redis.call('DEL', 'gradbox:cancel:' .. run)
"""
)
"""Ends a run and charges those who asked for it. Keys: the prefix. Arguments: the run, and whether it was cut short,
`1` or `0`."""
