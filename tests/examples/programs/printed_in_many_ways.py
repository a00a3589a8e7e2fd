# Options of printing, sys.stdout and sys.stderr, a long line.
import sys
import torch
torch.set_printoptions(precision=1, sci_mode=False)
print(torch.tensor([1.25, 1000.0]))
sys.stdout.write("written\n")
print("to the error stream", file=sys.stderr)
print("x" * 300)
