"""What the zygote loads of packages that programs may import: modules that a package would read from the disk later,
and small data sets beside its code. A child can't open any file."""

import contextlib
from importlib.util import find_spec
from pathlib import Path

from gradbox.language.policy import ALLOWED_MODULES

MODELS = "bart bert clip distilbert electra gpt2 gpt_neo llama mistral opt qwen2 roberta t5 vit"
"""Models of transformers whose classes a program can use. Loading all four hundred would take minutes and gigabytes."""

LAZY_MODULES = {
    "transformers": (
        "transformers.modeling_utils",
        "transformers.models.auto.modeling_auto",
        "transformers.models.auto.tokenization_auto",
        *(
            f"transformers.models.{model}.{part}_{model}"
            for model in MODELS.split()
            for part in ("configuration", "modeling", "tokenization")
        ),
        "transformers.data",
        "transformers.generation",
        "transformers.optimization",
        "transformers.pipelines",
        "transformers.trainer",
        "transformers.trainer_seq2seq",
        "transformers.training_args",
    ),
}
"""For packages that import their parts lazily: the parts to import, with everything below them. Of other packages every
public module is imported."""

SUBMODULES_TO_IMPORT = {
    "torchvision": (
        "PIL.BmpImagePlugin", "PIL.ImageDraw", "PIL.ImageEnhance", "PIL.ImageFile", "PIL.ImageFilter", "PIL.ImageFont",
        "PIL.ImageOps", "PIL.JpegImagePlugin", "PIL.PngImagePlugin",
    ),
}  # fmt: skip
"""Modules of other packages that a package's functions import while they run."""

ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Environment variables during the import of packages: there is no network to ask, and no thread may start."""

DATA_FOLDERS = {"sklearn": ("datasets/data", "datasets/descr")}
"""Folders of packages with data sets that programs load, like iris. They take some hundred kilobytes."""

MAX_DATA_BYTES = 2_000_000
"""Bytes of all such folders together."""


def read_package_data() -> dict[str, bytes]:
    """Read the files in DATA_FOLDERS of the packages that programs may import, by path."""
    out: dict[str, bytes] = {}
    room = MAX_DATA_BYTES
    for package, folders in DATA_FOLDERS.items():
        spec = find_spec(package) if package in ALLOWED_MODULES else None
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(path for folder in folders for path in Path(root, folder).glob("*")):
                with contextlib.suppress(OSError):
                    if path.is_file() and path.suffix != ".py" and path.stat().st_size <= room:
                        out[str(path)] = path.read_bytes()
                        room -= len(out[str(path)])
    return out
