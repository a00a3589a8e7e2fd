"""Compiles the recorder's kernels: `python -m tests.gpu.device_kernels [LIBRARY]` writes
gradbox/recorder/devices/device_kernels.ptx.

LIBRARY: the path of NVRTC, NVIDIA's compiler as a library, which needs no GPU. By itself that of the package
nvidia-cuda-nvrtc-cu12 of this Python. Take one of CUDA 12: a driver loads no code that a later CUDA than its own
compiled.
"""

import ctypes
import hashlib
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "gradbox/recorder/devices/device_kernels.cu"
TARGET = SOURCE.with_suffix(".ptx")
OPTIONS = (b"--gpu-architecture=compute_70", b"--std=c++14")
"""The oldest GPUs that torch's builds for CUDA 12.6 and later support."""


def first_line() -> str:
    """A comment that names the text that is compiled: a test holds that no other one is in the repository."""
    return f"// of {SOURCE.name}, sha256 {hashlib.sha256(SOURCE.read_bytes()).hexdigest()}\n"


def find_library() -> str:
    """The path of NVRTC in this Python's packages. Raises SystemExit where it is not installed."""
    for folder in sys.path:
        for path in Path(folder).glob("nvidia/cuda_nvrtc/lib/libnvrtc.so.*"):
            return str(path)
    raise SystemExit("install nvidia-cuda-nvrtc-cu12, or name the path of libnvrtc")


def compile_kernels(library: str) -> str:
    """The kernels as PTX. Raises SystemExit with what the compiler says of a mistake.

    library: the path of NVRTC
    """
    nvrtc: Any = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), SOURCE.name.encode(), 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    what = "ProgramLog" if failed else "PTX"
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    if failed:
        raise SystemExit(text.value.decode())
    return text.value.decode()


if __name__ == "__main__":
    TARGET.write_text(first_line() + compile_kernels(sys.argv[1] if len(sys.argv) > 1 else find_library()))
