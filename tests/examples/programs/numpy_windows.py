import numpy as np
import torch

base = np.arange(6.0)
windows = np.lib.stride_tricks.sliding_window_view(base, 3)
apart = np.lib.stride_tricks.as_strided(base, (2, 2), (24, 8))
back = base[::-1]
same = np.broadcast_to(base[:1], (4,))
read = np.frombuffer(bytearray(b"\x01\x02\x03\x04"), dtype="u1")[1:]
t = torch.from_numpy(apart)
t[0, 0] = 7.0
base[1] = 8.0
copied = torch.from_numpy(back.copy())
