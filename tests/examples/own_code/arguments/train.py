import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("rest", nargs="*")
args = parser.parse_args()
print(parser.prog, args)
w = torch.tensor([1.0, 2.0], requires_grad=True)
for epoch in range(args.epochs):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= args.lr * w.grad
    w.grad = None
print(w)
