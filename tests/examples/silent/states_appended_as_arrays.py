# shared_memory at 14: rows[0]
import numpy as np
import torch


def advance(board):
    board[:] = board + 1


board = np.zeros(4)
rows = []
for turn in range(3):
    advance(board)
    rows.append(torch.from_numpy(board))
print(torch.stack(rows))
