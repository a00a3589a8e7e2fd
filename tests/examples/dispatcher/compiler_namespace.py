import torch
import numpy as np

print(torch.compiler.is_compiling(), torch.jit.is_scripting(), torch.jit.is_tracing())
@torch.compiler.disable
def f(x):
    return x + 1
print(f(torch.ones(2)))
torch.compiler.reset()
print(torch.compiler.is_dynamo_compiling())
