# Stride 0 and overlapping strides: several elements, one cell.
import torch
column = torch.tensor([[1.0], [2.0]])
wide = column.expand(2, 3)
column[0] = 8
print(wide, wide.stride())
try:
    wide += 1
except RuntimeError as error:
    print(str(error).split(".")[0])
steps = torch.as_strided(torch.arange(5.0), (3, 3), (1, 1))
steps[1, 1] = 16
print(steps)
