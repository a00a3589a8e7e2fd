"""Complex tensors: views, conjugation, FFT, autograd on the complex plane."""
import torch

x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex64)
print(x, x.dtype, x.real, x.imag, x.abs(), x.angle())
y = torch.view_as_real(x)
print(y, y.data_ptr() == x.data_ptr())
y.mul_(2)
print(x)
z = torch.complex(torch.ones(2), torch.zeros(2))
print(torch.view_as_complex(torch.randn(3, 2).mul(0)), z, torch.polar(torch.ones(2), torch.tensor([0.0, 3.141592653589793])))
c = x.conj()
print(c.is_conj(), c.resolve_conj().is_conj(), (x * c).real)
x.real.zero_()
print(x)
a = torch.tensor([1 + 1j], requires_grad=True)
loss = (a * a.conj()).real.sum()
loss.backward()
print(a.grad)
with torch.no_grad():
    a -= 0.1 * a.grad
print(a)
signal = torch.sin(torch.arange(8) * 2 * torch.pi / 8)
spectrum = torch.fft.fft(signal)
print(torch.allclose(torch.fft.ifft(spectrum).real, signal, atol=1e-6), torch.fft.rfft(signal).shape, spectrum.abs().argmax())
print(torch.fft.fftfreq(4), torch.fft.fftshift(torch.arange(4)))
A = torch.tensor([[0, 1j], [-1j, 0]])
values, vectors = torch.linalg.eigh(A)
print(values, torch.allclose(vectors @ torch.diag(values.to(A.dtype)) @ vectors.mH, A, atol=1e-6))
try:
    a.sum().backward()
except RuntimeError as error:
    print(error)
