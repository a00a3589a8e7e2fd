# Floats of five widths, integers, bool, complex, and values that JSON can't say.
import torch
kinds = (torch.float8_e4m3fn, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64)
many = [torch.ones(2, dtype=kind) for kind in kinds]
print([t.dtype for t in many], many[2], many[7])
big = torch.tensor([2 ** 62 + 1, -(2 ** 53) - 1])
odd = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
print(big, odd, torch.empty(0), torch.tensor([]).sum())
