"""What the server sends of a run: the child's own lines, in one JSON document that every reader reads alike."""

import gzip
import json
import subprocess
from typing import Any

import pytest

from gradbox.assembly.assemble import AssembledTrace, assemble_trace, decode_step
from gradbox.wire.api import Job
from gradbox.wire.processes import AssemblyRequest, Usage
from gradbox.wire.trace import Trace
from gradbox.wire.trace import trace_json as encode
from tests.support.stand_in_recorder import END, HEADER
from tests.support.tracing import record

JOB = Job(source="x = 1\n", limits={})
USAGE = Usage(wall_ms=1.0, cpu_ms=2.0, peak_bytes=3)
PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\nprint('é', float('nan'), 'NaN')\nx.sum().backward()\n"


def recorded(*texts: bytes) -> AssembledTrace:
    """The trace of a child that wrote these lines."""
    return assemble_trace(AssemblyRequest(job=JOB, usage=USAGE), b"\n".join(texts) + b"\n").trace


def written(values: list[Any]) -> list[bytes]:
    return [json.dumps(value, ensure_ascii=False).encode() for value in values]


def steps(*texts: bytes) -> AssembledTrace:
    """The trace of these steps, given as JSON."""
    header, end = written([HEADER, END])
    return recorded(header, *(b'{"step":' + text + b"}" for text in texts), end)


def test_a_trace_is_the_lines_as_they_were_written() -> None:
    output = written(record(PROGRAM))
    trace = recorded(*output)
    body = trace.json()
    assert trace.outcome.status == "finished"
    assert all(line[len(b'{"step":') : -1] in body for line in output[1:-1])
    assert trace.printed == "é nan NaN\n"


def test_a_trace_is_the_same_document_as_its_model() -> None:
    """Also in the order of its fields, which tests and tools that compare texts rely on."""
    trace = recorded(*(json.dumps(line, separators=(",", ":")).encode() for line in record(PROGRAM)))
    assert json.loads(trace.json()) == json.loads(encode(decoded(trace)))
    assert list(json.loads(trace.json())) == ["schema", "program", "runtime", "steps", "focus", "outcome", "cost"]


def test_a_trace_is_always_compressed_into_the_same_bytes() -> None:
    trace = recorded(*written(record(PROGRAM)))
    body = trace.compressed()
    assert gzip.decompress(body) == trace.json()
    assert body == trace.compressed() and body[4:8] == bytes(4), "the time of compressing is in it"


def decoded(trace: AssembledTrace) -> Trace:
    return Trace.model_validate_json(trace.json())


def printing(text: str) -> AssembledTrace:
    entry = json.dumps([{"kind": "out", "stream": "stdout", "text": text}]).encode()
    return steps(step(b',"log":' + entry))


def test_memory_addresses_do_not_change_the_result_digest() -> None:
    """A child that has rehearsed has its objects elsewhere."""
    result = printing("<object object at 0x7fe81ac2ef70> 1\n").result_digest()
    assert result == printing("<object object at 0x7fe81ac2f410> 1\n").result_digest()
    assert result != printing("<object object at 0x7fe81ac2ef70> 2\n").result_digest()
    assert printing("0x1f\n").result_digest() != printing("0x2f\n").result_digest()


def step(fields: bytes, i: int = 0) -> bytes:
    return b'{"i":%d,"kind":"statement","line":1%s}' % (i, fields)


ACCEPTED = {
    "a name twice": step(b',"line":1,"value":1,"value":2'),
    "an entity twice": step(b',"set":{"f1":{"line":1},"f1":{"line":2,"line":3}}'),
    "a variable twice": step(b',"set":{"f1":{"vars":{"a":1,"\\u0061":2}}}'),
    "an event that changes its kind": step(
        b',"log":[{"kind":"event","event":"saved","node":"n1","slot":"a","event":"saved_stale"}]'
    ),
    "names of JavaScript": step(b',"set":{"f1":{"vars":{"__proto__":{"ref":"f1"},"constructor":1,"toString":null}}}'),
    "a number beyond 2^53": step(b',"value":123456789012345678'),
    "numbers in other spellings": step(b',"value":1E5,"set":{"f1":{"vars":{"a":-0.0,"b":1e-7,"c":0.1e+1}}}'),
    "white space": b' \t{ "i" : 0 ,"kind":"statement","line":1}\r ',
    "escapes": step(b',"value":"\\u0000\\ud83d\\ude00\\/\\u2028</script><!--"'),
    "characters as they are": step(',"value":"\u2028\U0001f600\x7f\u0080</script>"'.encode()),
    "a depth of lists": step(b',"set":{"o1":{"items":[[1,2]]}}'),
}

REJECTED = {
    "NaN where any value may stand": step(b',"set":{"t1":{"quant":{"scale":NaN}}}'),
    "an infinity where any value may stand": step(b',"set":{"t1":{"quant":{"scale":-Infinity}}}'),
    "an infinity in figures": step(b',"set":{"t1":{"quant":{"scale":1e999}}}'),
    "a number as text": step(b',"depth":"1"'),
    "a number for a truth": step(
        b',"visit":{"backward":"b1","node":"n1","grad_outputs":[],"grad_inputs":[],"failed":1}'
    ),
    "a whole number as a fraction": step(b',"depth":1.0'),
    "half of a character": step(b',"value":"\\ud800"'),
    "half of a character as it is": step(b',"value":"\xed\xa0\x80"'),
    "no UTF-8": step(b',"value":"\xff"'),
    "a longer form than need be": step(b',"value":"\xc0\xaf"'),
    "a control character": step(b',"value":"\n"'.replace(b"\n", b"\x01")),
    "two steps in one": step(b"") + b"," + step(b"", 1),
    "a step and the end of the list": step(b"") + b'],"outcome":{"status":"finished"},"more":[1',
    "a comment": step(b"") + b"//",
    "a byte order mark": b"\xef\xbb\xbf" + step(b""),
    "a line feed of Unicode between": b"\xe2\x80\xa8" + step(b""),
    "a number with a leading zero": step(b',"value":01'),
    "4,301 digits": step(b',"value":' + b"9" * 4301),
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
}


@pytest.mark.parametrize("name", REJECTED)
def test_a_step_that_a_browser_reads_differently_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        decode_step(REJECTED[name])
    trace = steps(REJECTED[name])
    assert trace.outcome.status == "crashed" and trace.steps == []
    Trace.model_validate_json(trace.json())


def test_a_browser_reads_of_a_trace_what_was_validated() -> None:
    """V8's JSON.parse, against the values that pydantic found: of each name the last value, all numbers, all text."""
    traces = {name: steps(text) for name, text in ACCEPTED.items()}
    assert {name for name, trace in traces.items() if trace.outcome.status != "finished"} == set()
    documents = "\n".join(trace.json().decode() for trace in traces.values())
    program = 'process.stdin.toArray().then((parts) => Buffer.concat(parts).toString().split("\\n").forEach((line) => console.log(JSON.stringify(JSON.parse(line)))))'  # noqa: E501
    node = subprocess.run(["node", "-e", program], input=documents.encode(), capture_output=True, timeout=60)
    assert node.returncode == 0, node.stderr
    for (name, trace), line in zip(traces.items(), node.stdout.decode().strip("\n").split("\n"), strict=True):
        read, validated = json.loads(line), json.loads(encode(decoded(trace)))
        assert read["outcome"] == {"status": "finished"}
        assert as_numbers(read) == as_numbers(validated), name


def as_numbers(value: Any) -> Any:
    """With every number as a browser holds it."""
    if isinstance(value, dict):
        return {key: as_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_numbers(part) for part in value]
    return float(value) if type(value) in (int, float) else value
