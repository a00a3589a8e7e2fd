"""Ragged data: nested tensors, padding, masks, packed sequences."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
sequences = [torch.randn(n, 3) for n in (4, 2, 3)]
nested = torch.nested.nested_tensor(sequences)
print(nested.is_nested, nested.size(0), [t.shape for t in nested.unbind()])
padded = torch.nested.to_padded_tensor(nested, 0.0)
del nested
print(padded.shape, torch.equal(padded, pad_sequence(sequences, batch_first=True)))
mask = torch.arange(4)[None] < torch.tensor([4, 2, 3])[:, None]
mean = (padded * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
print(torch.allclose(mean[1], sequences[1].mean(0)))
packed = pack_sequence(sequences, enforce_sorted=False)
print(packed.batch_sizes, packed.sorted_indices, packed.data.shape)
gru = nn.GRU(3, 2)
out, h = gru(packed)
unpacked, lengths = pad_packed_sequence(out, batch_first=True)
print(unpacked.shape, lengths, torch.allclose(h[0, 1], unpacked[1, 1]))
print(torch.nn.utils.rnn.unpad_sequence(padded, lengths, batch_first=True)[1].shape)
