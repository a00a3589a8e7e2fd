"""Audio without torchaudio: a chirp, STFT, mel filters, a CNN over the spectrogram, inverse STFT."""
import math

import torch
from torch import nn

torch.manual_seed(0)
rate = 800
t = torch.arange(rate) / rate
wave = torch.sin(2 * math.pi * (50 * t + 60 * t ** 2)) + 0.01 * torch.randn(rate)
window = torch.hann_window(64)
spec = torch.stft(wave, n_fft=64, hop_length=32, window=window, return_complex=True)
print(spec.shape, spec.dtype)
back = torch.istft(spec, n_fft=64, hop_length=32, window=window, length=rate)
print(torch.allclose(wave, back, atol=1e-4))


def mel_filters(n_mels, n_freqs, rate):
    to_mel = lambda f: 2595 * math.log10(1 + f / 700)
    mels = torch.linspace(0, to_mel(rate / 2), n_mels + 2)
    hz = 700 * (10 ** (mels / 2595) - 1)
    freqs = torch.linspace(0, rate / 2, n_freqs)
    slopes = hz[:, None] - freqs[None, :]
    diff = hz[1:] - hz[:-1]
    down, up = -slopes[:-2] / diff[:-1, None], slopes[2:] / diff[1:, None]
    return torch.clamp(torch.min(down, up), min=0)


power = spec.abs() ** 2
mel = torch.log(mel_filters(6, 33, rate) @ power + 1e-6)
print(mel.shape)
net = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 2))
loss = nn.functional.cross_entropy(net(mel[None, None]), torch.tensor([1]))
loss.backward()
print(f"{loss.item():.4f}", power.argmax(0)[:4])
