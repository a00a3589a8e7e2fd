"""The public site: the documents of `docs`, the catalogue of findings, the gallery; folders that any static host
serves."""
