def loss_of(w):
    y = w.exp()
    y += 1
    return y.sum()
