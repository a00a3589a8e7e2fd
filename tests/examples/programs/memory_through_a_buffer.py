# frombuffer and memoryview write into the same bytes.
import torch
raw = bytearray(8)
x = torch.frombuffer(raw, dtype=torch.int32)
view = memoryview(raw)
view[0] = 5
x[1] = 258
print(x, list(raw))
