# memory_held at 5: row, big
import torch
def first_row():
    big = torch.zeros(1000, 100)
    return big[0]
row = first_row()
print(row.untyped_storage().nbytes())
