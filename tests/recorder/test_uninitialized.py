"""Reading memory that nothing has written is reported, and no other read is."""

import pytest

from tests.support.tracing import events, trace

READS = """\
import torch
from torch import nn
x = torch.empty(2, 3)
print(x.shape, x.t().is_contiguous())
y = x + 1  # read
x.fill_(2)
print(x)
z = torch.empty(4)
z[0] = 1
z[1:3] = 2
print(z.sum() > 0)  # read
z[3] = 4
print(z)
p = nn.Parameter(torch.empty(2))
q = p * 2  # read
s = torch.Tensor(2)
t = s.clone().double()
u = t.neg()  # read
print(torch.empty(3))  # read
k = torch.empty(2).copy_(torch.empty(2))  # read
e = torch.empty(3)
e += 1  # read
"""

WRITES = """\
import torch
from torch import nn
m, b, e, a = nn.LSTM(3, 2), nn.BatchNorm1d(3), nn.Embedding(4, 3, padding_idx=0), nn.MultiheadAttention(4, 2)
print(nn.Linear(3, 2)(torch.ones(3)), b.num_batches_tracked + 1, e.weight.sum())
r = torch.empty(3)
torch.add(torch.ones(3), 1, out=r)
n = torch.empty(2)
n.numpy()[:] = 3
print(r, n)
g = torch.empty(2, 2)
for init in (nn.init.orthogonal_, nn.init.eye_, nn.init.kaiming_uniform_, nn.init.trunc_normal_, nn.init.ones_):
    print(init(torch.empty(2, 2)).shape, init(g).sum() < 9)
v = torch.empty(2).copy_(torch.ones(2))
k = torch.empty(3, 4)
k[:, ::2] = 1
k[:, 1::2] = 0
print(v, k, k.t_(), torch.empty_like(k).normal_().shape, torch.zeros_like(torch.empty(2)))
for step in range(60):
    w = torch.empty(2)
    w[0] = step
    w[1] = 1
print(w)
order, places = torch.tensor([2, 0, 1]), torch.empty(3)
places.scatter_(0, order, torch.arange(3.0))
packed = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 1), torch.tensor([2, 3]), True, enforce_sorted=False)
print(places, packed.unsorted_indices)
a, b = torch.empty(2).long().fill_(1), torch.empty(2).clone()
b[:] = 2
print(a + b)
"""

CONSTRUCTORS = """\
import torch, numpy as np
a = torch.FloatTensor([0, 0])
print(a, a + 1)
b = a.new_tensor([0.]); print(b + 1)
c = torch.as_tensor([0, 0]); print(c + 1)
d = a.new([0.0, 0.0]); print(d + 1)
e = torch.scalar_tensor(0); print(e + 1)
a[0] = 0; a[0] += 0; print(a * 1)
f = torch.sparse_coo_tensor([[0], [0]], [0.0], (2, 2)); print(f.coalesce().values() + 1)
g = torch.tensor(np.zeros(3)); print(g * 1)
h = torch.asarray([0.0]); print(h + 0)
i = torch.tensor([[0, 0]], dtype=torch.float64, requires_grad=True); print(i.sum())
j = torch.Tensor([0, 0]); print(j.mean())
k = torch.LongTensor([[0]]); print(k + 1)
l = torch.complex(torch.zeros(2), torch.zeros(2)); print(l + 1)
m = torch.nested.nested_tensor([torch.zeros(2)]); print(m)
n = torch.stack([torch.tensor(0), torch.tensor(0)]); print(n)
o = torch.tensor([torch.tensor(0.), torch.tensor(0.)]); print(o)
p = torch.bernoulli(torch.zeros(2)); print(p); q = torch.cat([a, a]); print(q)
r = torch.cartesian_prod(a, a); s = torch.combinations(a); print(r, s)
t = torch.BoolTensor([True]); print(t & t)
u = torch.nn.functional.one_hot(torch.tensor([0]), 2); print(u + 1)
v = torch.tensor(0); v += 0; print(v)
w = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(4, 2)), batch_size=2, shuffle=True)
for (x,) in w: print(x)
y = torch.utils.data.DataLoader([1, 0], batch_size=2)
for z in y: print(z + 0)
aa = torch.frombuffer(bytearray(8), dtype=torch.float32); print(aa + 0)
cc = torch.Generator().manual_seed(0); print(torch.rand(2, generator=cc))
st = torch.get_rng_state(); torch.set_rng_state(st); print(st.sum() > 0)
print(torch.distributions.Dirichlet(torch.ones(2)).sample().sum(), torch.linalg.svd(torch.zeros(2, 2)))
print(torch.fft.fft(torch.zeros(2)), torch.histc(torch.zeros(2)), torch.unique(torch.zeros(2)))
print(torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8))
import torch.nn.functional as F
print(F.pad(torch.zeros(1, 2), (1, 1)), F.interpolate(torch.zeros(1, 1, 2), scale_factor=2), F.unfold(torch.zeros(1, 1, 3, 3), 2))
"""  # noqa: E501


def test_reading_unwritten_memory_is_reported_at_its_line() -> None:
    recorded = trace(READS)
    assert recorded["outcome"]["status"] == "finished"
    lines = [number for number, line in enumerate(READS.split("\n"), 1) if "# read" in line]
    assert sorted({event["line"] for event in events(recorded, "uninitialized_read")}) == lines


@pytest.mark.parametrize("source", [WRITES, CONSTRUCTORS], ids=["written", "constructors"])
def test_reading_written_memory_is_not_reported(source: str) -> None:
    recorded = trace(source)
    assert recorded["outcome"]["status"] == "finished", recorded["outcome"]
    assert events(recorded, "uninitialized_read") == []
    assert events(recorded, "tracer_fault") == []
