import sys
import traceback

import torch


def report(kind, error, position):
    lines = traceback.format_exception(kind, error, position)
    print("caught by the hook:", lines[-1].strip(), len(lines), file=sys.stderr)


def install():
    sys.excepthook = report


def loss_of(w):
    y = torch.sigmoid(w)
    y += 1
    return y.sum()
