"""Programs that the checks ask for; `{n}` in one stands for a number, so that no two are the same."""

SPIN, SLEEP = "x = {n}\nwhile True: pass\n", "import time\nx = {n}\ntime.sleep(50)\n"
BIG = "import torch\nx = torch.ones(1000) * {n}\n" + "y = [str(k) * 20 for k in range(100_000, 100_200)]\n" * 600
"""Fills its trace: 8 MB of it."""

LARGE = 160_000_000
"""Bytes of memory that one of these programs takes, and no other."""

HOSTILE = {
    "crashes": (
        "import numpy as np\nx = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(10**7,), strides=(4096,)).sum() "
        "+ {n}\n",
        "crashed",
    ),
    "is killed as if memory had run out": (
        f"import time, torch\nx = torch.ones({LARGE // 4} + {{n}})\ntime.sleep(50)\n",
        "crashed",
    ),
    "takes all memory": ("import torch\nx = torch.ones(10**10 + {n})\n", "stopped"),
    "fills its trace": (BIG, "stopped"),
    "prints without end": ("while True: print('x' * 1000, {n})\n", "stopped"),
    "calls itself without end": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf({n})\n",
        "stopped",
    ),
    "raises": ("raise ValueError({n})\n", "raised"),
    "is no Python": ("x = {n} (\n", "refused"),
}
"""What programs do, how, and how that ends."""
