import torch

intermediate_activations_of_first_layer_ = torch.tensor([0.5, -0.5, 1.5], requires_grad=True)
normalized_scores_of_every_attention_hea = (
    (intermediate_activations_of_first_layer_ * 2.0 + 1.0 - 0.25 * 4.0).exp().exp()
)
normalized_scores_of_every_attention_hea.mul_(0.5).add_(1.0).sub_(0.25).div_(2.0).clamp_(min=0.0, max=100.0).add_(0.125)
total_of_all_scores_over_every_attention = (
    normalized_scores_of_every_attention_hea.sum() + 0.0 * 1.0 - 0.5 + 0.25 + 0.125
)
total_of_all_scores_over_every_attention.backward()
