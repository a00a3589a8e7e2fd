/**
 * What torch itself has for a finding: a tool or a mode of its own, in a sentence, with the address of its
 * documentation.
 */

const TORCH_DOCUMENTATION_URL = "https://docs.pytorch.org/docs/stable/";

/** By the key of its sentence, the page of the documentation. */
const DOCUMENTATION_PAGES: Record<string, string> = {
  anomaly: "autograd.html#anomaly-detection",
  allow_mutation: "autograd.html#torch.autograd.graph.allow_mutation_on_saved_tensors",
  gradcheck: "generated/torch.autograd.gradcheck.gradcheck.html",
  grad_of_any: "generated/torch.autograd.grad.html",
  materialize: "generated/torch.autograd.grad.html",
  is_grad_enabled: "generated/torch.is_grad_enabled.html",
  named_parameters: "generated/torch.nn.Module.html#torch.nn.Module.named_parameters",
  data_ptr: "generated/torch.Tensor.data_ptr.html",
};

/** By the kind of a finding, or by its kind and variant, of `DOCUMENTATION_PAGES`; those of the variant alone where
 * it has some. */
const OFFERS_BY_FINDING: Record<string, string[]> = {
  saved_overwritten: ["allow_mutation"],
  "saved_overwritten.accumulated": ["anomaly"],
  wrong_gradient: ["gradcheck"],
  custom_function: ["gradcheck"],
  "custom_function.count": [],
  "nonfinite.forward": ["anomaly"],
  "nonfinite.forward_operand": ["anomaly"],
  "nonfinite.backward": ["anomaly"],
  "nonfinite.branch": ["anomaly"],
  "nonfinite.branch_slope": ["anomaly"],
  "nonfinite.zero_times_infinite": ["anomaly"],
  "nonfinite.infinite_then_nan": ["anomaly"],
  "grad_none.not_leaf": ["grad_of_any"],
  unused_input: ["materialize"],
  "no_graph.no_grad": ["is_grad_enabled"],
  "no_graph.grad_mode": ["is_grad_enabled"],
  "grad_none.cut_no_grad": ["is_grad_enabled"],
  "parameter_detached.plain_container": ["named_parameters"],
  "parameter_detached.plain_tensor": ["named_parameters"],
  "shared_memory.view": ["data_ptr"],
  "shared_memory.base": ["data_ptr"],
  "shared_memory.views": ["data_ptr"],
  "shared_memory.same_tensor": ["data_ptr"],
  "shared_memory.detached": ["data_ptr"],
  "shared_memory.stored": ["data_ptr"],
  "shared_memory.container": ["data_ptr"],
};

export interface TorchSuggestion {
  text: string;
  url: string;
}

export function torchSuggestions(
  { kind, variant }: { kind: string; variant?: string | null },
  say: (key: string) => string,
): TorchSuggestion[] {
  const keys = OFFERS_BY_FINDING[`${kind}.${variant}`] ?? OFFERS_BY_FINDING[kind] ?? [];
  return keys.map((key) => ({ text: say(`torch.${key}`), url: TORCH_DOCUMENTATION_URL + DOCUMENTATION_PAGES[key] }));
}
