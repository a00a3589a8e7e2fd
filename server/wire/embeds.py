"""How a saved program is embedded in another site's page: oEmbed 1.0, of type `rich`."""

from typing import Literal

from gradbox.wire.base import Model


class OEmbed(Model):
    """width, height: pixels of the frame in `html`. cache_age: seconds."""

    version: Literal["1.0"] = "1.0"
    type: Literal["rich"] = "rich"
    title: str
    provider_name: Literal["Gradbox"] = "Gradbox"
    provider_url: str
    cache_age: int
    html: str
    width: int
    height: int
    thumbnail_url: str
    thumbnail_width: int
    thumbnail_height: int
