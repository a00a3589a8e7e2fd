# sys.exit ends the program with a message; finally still runs.
import sys
import torch
x = torch.ones(1)
try:
    sys.exit("that is enough")
finally:
    print("last words", x)
print("never")
