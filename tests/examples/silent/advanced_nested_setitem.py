# index_copy at 5: board
import torch
board = torch.zeros(4, 4)
rows = torch.tensor([0, 2])
board[rows][:, 1] = 5
print(board)
