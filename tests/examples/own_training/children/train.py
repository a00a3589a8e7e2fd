import multiprocessing

import torch
from work import sample


def main():
    torch.manual_seed(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        samples = torch.tensor(pool.map(sample, range(8)))
    w = torch.zeros(3, requires_grad=True)
    for k in range(3):
        loss = (samples @ w - 1).pow(2).mean()
        (gradient,) = torch.autograd.grad(loss, w)
        w = (w - 0.1 * gradient).detach().requires_grad_()  # mistake graph_grows: w = w - 0.1 * gradient
        print(k, round(loss.item(), 4))
    child = multiprocessing.get_context("spawn").Process(target=print, args=("from a child", w.shape))
    child.start()
    child.join()


if __name__ == "__main__":
    main()
