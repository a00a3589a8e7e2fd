import sys
import traceback
from pathlib import Path


def install(path):
    def hook(kind, error, where):
        Path(path).write_text("".join(traceback.format_exception_only(kind, error)))
        print("reported:", kind.__name__, len(traceback.extract_tb(where)), file=sys.stderr)

    sys.excepthook = hook


def loss_of(prediction):
    scale = prediction.exp()
    scale = scale + 1  # mistake saved_overwritten: scale += 1
    return scale.log().pow(2).mean()
