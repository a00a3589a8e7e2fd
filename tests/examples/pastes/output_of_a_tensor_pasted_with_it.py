import torch
a = torch.tensor([1., 2.])
b = a
b[0] = 5
print(a)
'''
Output:
tensor([5., 2.])
'''
