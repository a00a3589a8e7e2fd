import torch
import numpy as np

print(torch.ops.aten.add.Tensor(torch.ones(2), torch.ones(2), alpha=3), torch.ops.aten.sum.dim_IntList(torch.ones(2, 2), [0]))
print(torch.ops.aten.relu(torch.ones(2)), torch.ops.aten.add.Tensor._schema, torch.ops.aten.add.overloads()[:3])
print(torch.ops.aten.mul.Tensor.has_kernel_for_dispatch_key(torch._C.DispatchKey.CPU))
print(torch._C._dispatch_keys(torch.ones(2)), torch._C._dispatch_tls_is_dispatch_key_included("TESTING_ONLY_GenericMode") in (True, False))
