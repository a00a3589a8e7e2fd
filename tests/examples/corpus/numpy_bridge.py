"""The NumPy bridge: sharing, copies, dtypes, gradients that refuse, and numpy functions on tensors."""
import numpy as np
import torch

a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(a)
t[0, 0] = 100
print(a[0, 0], t.dtype)
c = torch.tensor(a)
c[0, 1] = -1
print(a[0, 1])
s = torch.as_tensor(a)
print(s.data_ptr() == t.data_ptr())
n = t.numpy()
n += 1
print(t)
print(torch.tensor([1, 2]).numpy().dtype, torch.tensor([1.0]).numpy().dtype, torch.tensor([True]).numpy().dtype)
w = torch.ones(2, requires_grad=True)
try:
    w.numpy()
except RuntimeError as error:
    print(error)
d = w.detach().numpy()
d[0] = 5
print(w)
print(np.mean(t.numpy()), np.array(t).shape, np.asarray(torch.ones(2)))
print(torch.from_numpy(np.array([1, 2, 3])[::-1].copy()), torch.from_numpy(a.T).stride())
try:
    torch.from_numpy(np.array([1, 2, 3])[::-1])
except ValueError as error:
    print(str(error)[:40])
print(torch.tensor(np.float64(3.5)).dtype, torch.tensor(3.5).dtype, torch.tensor(np.array([1, 2], dtype=np.uint8)).dtype)
x = np.linspace(0, 1, 5)
X = torch.as_tensor(x, dtype=torch.float32)
y = torch.sin(X).numpy()
print(np.allclose(np.sin(x), y, atol=1e-6), type(y).__name__)
m = torch.randn(3, 3).double()
print(np.allclose(np.linalg.det(m.numpy()), torch.linalg.det(m).item()))
print(torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(t)).data_ptr() == t.data_ptr(), np.from_dlpack(torch.ones(2)))
