"""The public site, as folders for any static host: the documents of `docs`, the catalogue of findings, the gallery."""
