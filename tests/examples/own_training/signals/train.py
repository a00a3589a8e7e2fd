import atexit
import os
import signal
import sys
from pathlib import Path

import torch

atexit.register(lambda: print("goodbye"))
stopping = False


def on_signal(number, frame):
    global stopping
    stopping = True
    Path("checkpoint.txt").write_text(f"{number} at round {k}")


signal.signal(signal.SIGUSR1, on_signal)
torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(3))
optimizer = torch.optim.SGD([w], lr=0.1)
history = []
for k in range(100):
    loss = (w - 1).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())  # mistake graph_grows: history.append(loss)
    if k == 5:
        os.kill(os.getpid(), signal.SIGUSR1)
    if stopping:
        break
print(len(history), round(float(sum(history)), 3))
sys.exit(3)
