import torch
total = torch.zeros(1)
for k in range(3):
    total += k
    if k == 1:
        print('half')
total
def double(t):
    return t * 2
double(total)
