"""Quantisation: affine mapping by hand, quantised tensors, dynamic quantisation, model size on disk."""
import os

import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.tensor([-1.0, 0.0, 0.5, 2.0])
scale = (x.max() - x.min()) / 255
zero_point = int((-x.min() / scale).round())
q = torch.clamp((x / scale).round() + zero_point, 0, 255).to(torch.uint8)
print(q, (q.float() - zero_point) * scale)
qx = torch.quantize_per_tensor(x, scale=scale.item(), zero_point=zero_point, dtype=torch.quint8)
print(qx.int_repr(), qx.dequantize(), qx.q_scale() == scale.item(), qx.q_zero_point())
qc = torch.quantize_per_channel(torch.randn(2, 3), torch.tensor([0.1, 0.05]), torch.tensor([0, 0]), 0, torch.qint8)
print(qc.q_per_channel_scales(), qc.int_repr().dtype)


class LSTMish(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def print_size_of_model(model, label=""):
    torch.save(model.state_dict(), "temp.p")
    size = os.path.getsize("temp.p")
    print("model: ", label, " \t", "Size (KB):", size / 1e3)
    os.remove("temp.p")
    return size


float_model = LSTMish().eval()
f = print_size_of_model(float_model, "fp32")
fake = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
print(fake)
w = torch.randn(4, requires_grad=True)
out = torch.fake_quantize_per_tensor_affine(w, 0.1, 0, -128, 127).sum()
out.backward()
print(w.grad)
half = LSTMish().half()
h = print_size_of_model(half, "fp16")
print(h < f, float_model(torch.randn(2, 16)).shape)
observer = torch.ao.quantization.MinMaxObserver()
observer(torch.randn(10))
print([v.shape for v in observer.calculate_qparams()])
