import torch


def loss_of(prediction, target):
    error = (prediction - target).abs()
    weight = torch.exp(-error)
    error = error * weight
    weight = weight + 1  # mistake saved_overwritten: weight += 1
    return (error + 0 * weight).mean()
