# unexplained_error: covariance identity
import torch
x = torch.arange(6.0).view(2, 3)
covariance = x.T @ x - torch.eye(3)
factor = torch.linalg.cholesky(covariance)  # cause
