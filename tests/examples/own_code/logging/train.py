import logging
import sys

import torch
from steps import run

logging.basicConfig(
    filename="train.log", level=logging.INFO, format="%(levelname)s %(name)s %(module)s:%(lineno)d %(message)s"
)
log = logging.getLogger(__name__)
log.addHandler(logging.StreamHandler(sys.stderr))
log.info("begins")
run(torch.ones(2))
log.warning("ends")
