"""dtypes: promotion, casting, overflow, precision, finfo, bool arithmetic."""
import torch

print(torch.result_type(torch.tensor([1, 2]), 1.0), torch.promote_types(torch.int32, torch.float16))
for a, b in [(torch.int32, torch.float32), (torch.float16, torch.bfloat16), (torch.uint8, torch.int8), (torch.bool, torch.int64), (torch.float32, torch.complex64)]:
    print(a, b, (torch.ones(1, dtype=a) + torch.ones(1, dtype=b)).dtype)
print((torch.tensor([1, 2]) / 2).dtype, (torch.tensor([5, -5]) // 2), torch.tensor([5, -5]) % 3)
print(torch.tensor([200], dtype=torch.uint8) + 100, torch.tensor(2 ** 31 - 1, dtype=torch.int32) + 1)
print(torch.tensor(0.1) + torch.tensor(0.2), torch.tensor(0.1, dtype=torch.float64) + 0.2)
print(torch.tensor([1.5, -1.5, 2.5]).to(torch.int64), torch.tensor([1.5, 2.5]).round(), torch.tensor([True, False]).sum())
for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    info = torch.finfo(dtype)
    print(dtype, info.eps, info.max, info.tiny)
x = torch.tensor([65504.0])
print(x.half(), (x * 2).half(), torch.tensor(1e-8).half(), torch.tensor(1.0009765625).bfloat16())
try:
    torch.ones(2, dtype=torch.float32) @ torch.ones(2, dtype=torch.float64)
except RuntimeError as error:
    print(error)
try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError as error:
    print(error)
i = torch.ones(2, dtype=torch.int64)
try:
    i += 0.5
except RuntimeError as error:
    print(error)
torch.set_default_dtype(torch.float64)
print(torch.tensor(1.0).dtype)
torch.set_default_dtype(torch.float32)
print(torch.iinfo(torch.int8).min, torch.tensor(3).item(), float("nan") == torch.tensor(float("nan")), torch.isnan(torch.tensor([0.0 / 1, float("inf") * 0])))
