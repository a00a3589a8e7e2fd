import torch

def main():
    w = torch.ones(2, requires_grad=True)
    (w * w).sum().backward()
    return w

if __name__ == '__main__':
    kept = main()
    print(kept.grad)
