# Names of builtins as names of the program's own, as torch's documentation has them.
import torch
input = torch.tensor([1.0, 4.0])
dir, vars, open = 1, 2, 4
def type_of(type, file=None, help="h"):
    return type, file, help
sum = input.sum()
max, argmax = input.max(0)
print(input, dir + vars + open, type_of("t"), sum, max, argmax)
