# nonfinite at 5: signal
import torch
signal = torch.tensor([0j, 1 + 1j], requires_grad=True)
spectrum = torch.fft.fft(signal)
level = (spectrum - spectrum).sqrt()
level.real.sum().backward()
print(signal.grad)
