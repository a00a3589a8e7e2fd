"""The modes in force: grad, inference, autocast, anomaly detection, default dtype, saved-tensor hooks, functorch."""

from typing import Any

import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.wire import entities


class TorchModes(Probe):
    def __init__(self, context: ProbeContext) -> None:
        super().__init__(context)
        self._uid = context.uids.allocate_uid("m")
        self._settings: tuple[Any, ...] = ()

    def update_delta(self, observation: Observation) -> None:  # noqa: ARG002
        settings = (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.is_anomaly_enabled(),
            torch.get_default_dtype(),
            torch._C._autograd._top_saved_tensors_default_hooks(True),
            torch._C._functorch.get_interpreter_stack(),
        )
        if settings != self._settings or settings[2] or settings[5] is not None or settings[6]:
            # of all that the facts are made of, these can change where the settings are equal
            self._settings = settings if settings[5] is None and not settings[6] else ()
            self._delta.update_entity(self._uid, mode_record())


def mode_record() -> entities.Mode:
    """The modes that apply to the next operation, as the wire's `mode`."""
    functorch = torch._C._functorch.get_interpreter_stack() or ()
    return {
        "kind": "mode",
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": str(torch.get_autocast_dtype("cpu"))[6:] if torch.is_autocast_enabled("cpu") else None,
        "anomaly": torch.is_anomaly_enabled(),
        "default_dtype": str(torch.get_default_dtype())[6:],
        "saved_hooks": torch._C._autograd._top_saved_tensors_default_hooks(True) is not None,
        "functorch": [f"{layer.key().name.lower()}@{layer.level()}" for layer in functorch] or None,
    }
