"""Reshaping: view, reshape, permute, unfold, tensordot, kron, and what is contiguous."""
import torch

x = torch.arange(24)
print(x.view(2, 3, 4).shape, x.reshape(-1, 6).shape, x.view(2, 12).view(torch.int32).shape, x.unflatten(0, (4, 6)).shape)
y = x.view(2, 3, 4)
for t in (y.permute(2, 0, 1), y.transpose(1, 2), y.swapaxes(0, 2), y.movedim(-1, 0), y.mT, y[:, 1], y[..., ::2], y.flatten(1)):
    print(tuple(t.shape), t.stride(), t.is_contiguous(), t.storage_offset())
print(x.unfold(0, 4, 2).shape, x[:6].as_strided((2, 2), (3, 1)), torch.tensordot(y.float(), torch.ones(4, 2), dims=1).shape)
print(torch.kron(torch.eye(2), torch.ones(1, 2)), torch.block_diag(torch.ones(1, 2), torch.ones(2, 1)).shape, torch.cartesian_prod(torch.arange(2), torch.arange(2)))
print(torch.hstack([torch.ones(2), torch.zeros(1)]), torch.vstack([torch.ones(2), torch.zeros(2)]), torch.dstack([torch.ones(2), torch.zeros(2)]).shape, torch.atleast_2d(torch.ones(2)).shape)
print(torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 3])), torch.tensor([1, 2]).tile(2), torch.rot90(torch.arange(4).view(2, 2)))
img = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
print(img.stride(), img.is_contiguous(), img.is_contiguous(memory_format=torch.channels_last))
a, b = torch.broadcast_tensors(torch.ones(3, 1), torch.zeros(2))
print(a.shape, a.stride(), torch.squeeze(torch.ones(1, 2, 1), 0).shape, torch.narrow(x, 0, 3, 2), x.select(0, 5), x.take(torch.tensor([1])))
named = torch.ones(2, 3)
print(named.numel(), named.dim(), named.nelement(), len(named), named.size(-1), list(named.shape))
