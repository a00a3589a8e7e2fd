import torch
import numpy as np

@torch.jit.ignore
def seen(x):
    print("python", x.shape)
    return x + 1
class Net(torch.nn.Module):
    def forward(self, x):
        return self.plain(x) * 2
    @torch.jit.export
    def twice(self, x):
        return x * 2
    @torch.jit.unused
    def plain(self, x):
        return x + 1
print(torch.jit.script(Net()).twice(torch.ones(2)))
try:
    print(torch.jit.script(Net())(torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
