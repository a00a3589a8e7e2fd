import torch

board = torch.zeros(3, 4)
board[0] = 1
board[:, 1] += 2
board[board > 2] = 9
board[torch.tensor([0, 2]), torch.tensor([1, 3])] = 5
row = board[1].clone()
row += 1
print(board, row)
