"""Starts the process that checks a script's gradients or samples, and reads what it found."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gradbox.script.interrupts import restore_default_sigint
from gradbox.script.script_process import BOOTSTRAP_CODE, Script
from gradbox.wire.api import GradientCheckReply

MAX_SECONDS = 20.0
"""Processor time after which a check begins no other run of the script."""

CHECK_CODE = BOOTSTRAP_CODE.replace("gradbox.script.recorded_script", "gradbox.script.checked_script")


def check_script(script: Script, samples: bool) -> GradientCheckReply:
    """Run the script again and again, up to its first backward. Raises OSError where the process can't be started.

    samples: whether the samples of its batch stay apart is asked instead of whether its gradients are right
    """
    with tempfile.TemporaryDirectory(prefix="gradbox-") as folder:
        reply = Path(folder) / "reply.json"
        request = {"module": script.is_module, "samples": samples, "seconds": MAX_SECONDS, "reply": str(reply)}
        code = CHECK_CODE.format(folder=str(Path(__file__).resolve().parents[2]))
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        subprocess.run(
            [sys.executable, *flags, "-c", code, json.dumps(request), script.target, *script.arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            preexec_fn=restore_default_sigint,
        )  # fmt: skip
        if not reply.exists():
            return GradientCheckReply(status="crashed", message="the script ended its process", check=None)
        return GradientCheckReply.model_validate_json(reply.read_bytes())
