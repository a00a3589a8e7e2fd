# exp saves its own result: the slot and the tensor are one storage.
import torch
x = torch.zeros(3, requires_grad=True)
y = x.exp()
saved = y.grad_fn._saved_result
print(saved, saved.data_ptr() == y.data_ptr(), saved is y)
