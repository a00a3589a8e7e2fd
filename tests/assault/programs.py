"""Programs for assaults: they fill their trace, are slow to draw, or write lines of a trace into the pipe themselves.

`{n}` in one stands for a number, so that no two are the same.
"""

COLLIDING = 2**61 - 1
"""Its multiples have one hash in CPython."""

FIRST = 2
"""The number of the first step that `forging` may write."""


def forging(data: str) -> str:
    """A program that writes a step or more into its pipe, and that it has finished.

    data: an expression for the bytes of the lines; in it `i` is FIRST
    """
    last = """b'{"outcome":{"status":"finished"},"cost":{"wall_ms":0,"cpu_ms":0,"peak_bytes":0}}\\n'"""
    return f"import torch\nseed = {{n}}\n[torch.os.write(4, data) for i in [{FIRST}] for data in [{data}, {last}]], torch.os._exit(0)\n"  # noqa: E501


def step(fields: str) -> str:
    """An expression for a step's line.

    fields: an expression for the bytes of its fields `set` and the like
    """
    return f"""b'{{"step":{{"i":2,"kind":"statement","line":1,"gone":[],"log":[],' + {fields} + b'}}}}\\n'"""


def storage(fields: str) -> str:
    """An expression for a step's line with a storage.

    fields: an expression for the bytes of its other fields
    """
    return step(f"""b'"set":{{"s1":{{"kind":"storage",' + {fields} + b'}}}}'""")


def repeated(item: str, count: int) -> str:
    """An expression for the bytes of so many items of a list, with commas between.

    item: its text
    """
    return f"b','.join([b'{item}'] * {count})"


KEYS = f"b','.join([b'\"%d\":1' % (k * {COLLIDING}) for k in range(1, 20001)])"

HOSTILE_LINES = {
    "keys of one hash": (
        'import torch\nseed = {n}\ntorch.os.write(4, b\'{"outcome":{"status":"finished"},'
        f'"cost":{{"wall_ms":0,"cpu_ms":0,"peak_bytes":0}},"again":{{\' + {KEYS} + b\'}}}}\\n\'), torch.os._exit(0)\n'
    ),
    "cells that are nan": forging(
        storage(f"""b'"cells":{{"float32":[' + {repeated('{"$f":"nan"}', 600_000)} + b']}}'""")
    ),
    "lists of cells": forging(storage(f"""b'"cells":{{"float32":[' + {repeated("1", 3_900_000)} + b']}}'""")),
    "windows": forging(storage(f"""b'"windows":{{"float32":[' + {repeated("[1,[1]]", 950_000)} + b']}}'""")),
    "cells by their number": forging(
        storage("""b'"cells_at":{"float32":{' + b','.join([b'"%d":1' % k for k in range(700_000)]) + b'}}'""")
    ),
    "a shape": forging(
        step(f"""b'"set":{{"t1":{{"kind":"tensor","shape":[' + {repeated("1", 3_900_000)} + b']}}}}'""")
    ),
    "entities": forging(
        step("""b'"set":{' + b','.join([b'"c%d":{"kind":"counter","value":1}' % k for k in range(200_000)]) + b'}'""")
    ),
    "entities without a field": forging(
        step("""b'"set":{' + b','.join([b'"c%d":{}' % k for k in range(600_000)]) + b'}'""")
    ),
    "what is gone": forging(step(f"""b'"gone":[' + {repeated('"t1"', 1_500_000)} + b']'""")),
    "a log": forging(
        step(f"""b'"log":[' + {repeated('{"kind":"out","stream":"stdout","text":""}', 180_000)} + b']'""")
    ),
    "short steps": forging(
        """b'\\n'.join([b'{"step":{"i":%d,"kind":"statement","line":1}}' % k for k in range(2, 150_000)]) + b'\\n'"""
    ),
    "empty lines": forging("b'\\n' * 7_900_000"),
    "fields that nobody knows": forging(step("""b','.join([b'"x%d":1' % k for k in range(650_000)])""")),
    "brackets": forging(step("""b'"value":' + b'[' * 4_000_000""")),
}
"""What programs write as their trace, up to the 8 MB that they may; most of it is refused, after how much work?"""

FAR_CELL = forging(storage("""b'"device":"cpu","nbytes":16,"cells_at":{"float32":{"4294967290":1}}'"""))
"""A cell so far out that a picture with all cells before it would never be drawn."""

BIG = "import torch\nx = torch.ones(1000) * {n}\n" + "y = [str(k) * 20 for k in range(100_000, 100_200)]\n" * 600
"""Fills its trace: 8 MB of it, which gzip makes small."""

RANDOM = "import torch\ntorch.manual_seed({n})\nfor k in range(100):\n    x = torch.rand(1000)\n"
"""Its trace hardly gets smaller."""

CROWDED = (
    "import torch\na = torch.ones(3, requires_grad=True) * {n}\nb = [a]\n" + "b.append(b[-1].view(3).sin())\n" * 300
)
"""Takes long to draw: every step shows hundreds of tensors and nodes."""

LONG_SOURCE = "x = {n} (\n#" + "a" * 65_000
"""Is refused at once, and as long as a program may be."""

HALF_SECOND = "import time\nseed = {n}\nbegan = time.time()\nwhile time.time() - began < 0.5: pass\n"

CIRCLE = forging(
    step(
        """b'"set":{"f1":{"kind":"frame","name":"<module>","line":1,"vars":{"y":{"ref":"t1"}}},'"""
        """b'"t1":{"kind":"tensor","shape":[2],"dtype":"float32","grad_fn":"n3"},'"""
        """b'"n1":{"kind":"node","name":"ViewBackward0","next":[["n2",0]]},'"""
        """b'"n2":{"kind":"node","name":"ViewBackward0","next":[["n1",0]]},'"""
        """b'"n3":{"kind":"node","name":"SinBackward0","next":[["n3",99999],["n1",0]]}}'"""
    )
)
"""A graph whose nodes lead in a circle, as none of torch does."""

FORGED_CHECK = forging(
    f"""b''.join([b'{{"step":{{"i":%d,"kind":"statement","line":1,"set":{{"s1":{{"kind":"storage","cells":{{"float32":['"""
    f""" % k + {repeated('{"$f":"nan"}', 1000)} + b']}}}}}}}}}}\\n' for k in range(590)])"""
)
"""Steps that are valid, as many as a trace may hold, in a run that is asked for none."""

FORGED_ROWS = forging(
    """b'{"outcome":{"status":"finished"},"cost":{"wall_ms":0,"cpu_ms":0,"peak_bytes":0},"gradient_check":{"leaves":['"""
    """ + b'{"name":"","line":1,"shape":[],"dtype":"","elements":1,"verdict":"agrees","rows":[' + """
    + repeated('{"index":[],"torch":1.0,"double":1.0,"numeric":1.0,"difference":0.0,"verdict":"agrees"}', 88_000)
    + """ + b']}]}}\\n'"""
)
"""A check of gradients with tens of thousands of elements."""

INDEX_COPIES = "import torch\nw = torch.zeros(9) * {n}\n" + "w[[0, 1]][0] = 1\n" * 400
"""Has a finding on each of its lines."""

LONG_NAME = (
    "import torch\nn = {n}\n"
    + "a" * 20_000
    + " = torch.ones(3, requires_grad=True)\nb = "
    + "a" * 20_000
    + "\nb.add_(1)\n"
)
"""Has a finding about a name that is as long as a program may be."""

OVERWRITTEN = "import torch\nx = torch.ones(2, requires_grad=True) * {n}\ny = x.exp()\ny += 1\ny.sum().backward()\n"
"""Raises, and has several fixes."""

NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "source": ["x = {n}\\n", '
    + ", ".join([r'"y = \"\u00e9\"\n"'] * 1500)
    + "]}]}"
    + "\n" * 30_000
)
"""A notebook whose lines of code are found nowhere in its text."""

QUOTED_BLANKS = "x = {n}\nx = " + "'\u00a0' + " * 7000 + "(\u00a0"
"""Blanks that Python does not take, in strings and outside of them, on one line."""

CROWDED_FILES = (
    "import os\nn = {n}\nos.makedirs('/'.join(['d'] * 300))\nfor k in range(2000): open(f'f{k}', 'w').close()\n"
    "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 27))\n"
)
"""Fills its files until its memory is full."""

NAMES_OF_ALL = (
    "import torch\n" + "".join(f"v{k} = torch.ones(2) * {{n}}\n" for k in range(600)) + "v0 = v0 + {n}\n" * 1200
)
"""Has hundreds of names at each of a thousand steps, all of them with other values in another of its kind."""

SHARED_BY_THOUSANDS = "import torch\n" + "=".join(f"v{k}" for k in range(8_900)) + "=torch.ones(2) * {n}\n"
"""Has nine thousand names of one tensor."""

MANY_NAMES_AT_MANY_STEPS = (
    "import torch\nx = {n}\n" + "=".join(f"v{k}" for k in range(6_000)) + "=1\n" + "v0 += x\n" * 1_900
)
"""Has six thousand names at each of two thousand steps."""

ALL_LINES_DIFFER = "import torch\n" + "".join(f"x{k} = {{n}} + {k}\n" for k in range(1500))
"""Has no line in common with another of its kind but the first."""

LONG_INPUT = (
    "import sys\nn = {n}\ntotal = sum(len(input()) for _ in range(5000))\nrest = sys.stdin.read()\nprint(rest)\n"
)
"""Reads thousands of lines that were typed before the run."""

COMPLEX_CELLS = forging(
    """b'{"step":{"i":2,"kind":"statement","line":1,"set":{' + b','.join(
    [b'"s%d":{"kind":"storage","cells":{"complex64":[' % (k + torch.os.getpid() % 9) + """
    + repeated('{"$c":[0,0]}', 1024)
    + """ + b']}}' for k in range(1, 560)]) + b'}}}\\n'"""
)
"""A valid step of 7.5 MB, another one in each run, whose values take forty times as much in Python."""

HOSTILE_FILMS = (
    "import torch\nseed = {n}\nx = torch.randn(40, 40, requires_grad=True)\ny = x.sigmoid()\ny.mul_(2)\n"
    "for i in range(4000):\n    z = i\n(y * y).sum().backward()\n",
    "import torch\nseed = {n}\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
    f"y.add_([{', '.join(['1'] * 4000)}][0])\nsum([{', '.join(['y.sum()'] * 900)}]).backward()\n",
    "import torch\nseed = {n}\nx = torch.ones(8, requires_grad=True)\ny = x.exp()\n"
    + "".join(f"name_{k:03} = y[{k % 8}:]\n" for k in range(400))
    + "y.zero_()\n(name_000 * y).sum().backward()\n",
)
"""Runs with a finding whose film would be large if it had all steps, characters or names."""
