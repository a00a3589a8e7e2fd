from shop.config import SETTINGS
from shop.model import Classifier
from shop.trainer import Trainer

trainer = Trainer(Classifier(SETTINGS["sizes"]), SETTINGS)
trainer.fit()
trainer.save("losses.txt")
