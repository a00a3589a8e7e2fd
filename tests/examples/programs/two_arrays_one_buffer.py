# from_numpy of an array and of a slice of it: two storages over one memory.
import numpy as np
import torch
n = np.arange(4.0)
a, b = torch.from_numpy(n), torch.from_numpy(n[1:])
b[0] = 16
n[3] = 32
print(a, b, b.storage_offset(), a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())
