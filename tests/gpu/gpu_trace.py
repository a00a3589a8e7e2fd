"""Traces of programs on a server's GPU: `python -m tests.gpu.gpu_trace URL FILE…` prints one a line, in order, for the
referee."""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TIMEOUT = 90.0


def post_program(url: str, source: str, device: str = "cuda") -> tuple[int, Any]:
    """The status and the body of an answer to a program; a body that is no JSON as text.

    url: of the server
    """
    body = json.dumps({"source": source, "device": device}).encode()
    request = urllib.request.Request(f"{url}/api/runs", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")[:500]
    except OSError as error:
        return 0, repr(error)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        status, trace = post_program(sys.argv[1], Path(name).read_text())
        print(json.dumps(trace) if status == 200 else "{}", flush=True)
