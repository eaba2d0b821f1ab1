"""What a retriever may know of the environment that Boresight itself was started in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import InputError

# HOME is the cell's own, so caches of models are reached by their own variables or not at all.
ALLOWED = frozenset({
    "PATH", "LD_LIBRARY_PATH",
    "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE",
    "TRANSFORMERS_OFFLINE", "SENTENCE_TRANSFORMERS_HOME", "FASTEMBED_CACHE_PATH", "TORCH_HOME",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS",
    "TOKENIZERS_PARALLELISM",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
})  # fmt: skip
ALLOWED_PREFIXES = ("OPENBLAS_",)
LOCALE = "C.UTF-8"  # the same for everybody, so that a resume from another terminal is the same run


# Where something lies is no part of identity; how many threads or which devices are used is.
_PLACES = frozenset({
    "PATH", "LD_LIBRARY_PATH",
    "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE",
    "SENTENCE_TRANSFORMERS_HOME", "FASTEMBED_CACHE_PATH", "TORCH_HOME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
})  # fmt: skip


def governing_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables, passed to every retriever, that can change what it answers or how fast."""
    source = os.environ if source is None else source
    return {
        name: value
        for name, value in sorted(source.items())
        if (name in ALLOWED or name.startswith(ALLOWED_PREFIXES)) and name not in _PLACES
    }


def child_environment(
    extra: Mapping[str, str],
    home: Path,
    tmp: Path,
    secrets: Sequence[str] = (),
    source: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a retriever's complete environment.

    It holds the allowed variables of `source` (this process's environment), the variables named in
    `secrets` that the manifest asks for (keys, tokens, proxies), then `extra`; HOME and TMPDIR are always
    `home` and `tmp`. Nothing else passes: no PYTHON*, GIT_* or XDG_* variable, no credential by accident.
    Raises InputError where a secret is not set.
    """
    source = os.environ if source is None else source
    missing = [name for name in secrets if name not in source]
    if missing:
        raise InputError(
            f"the manifest passes {', '.join(missing)} to its retriever, and it is not set here: "
            "set it before starting, or take its name out of the manifest"
        )
    passed = {
        name: value
        for name, value in source.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIXES) or name in secrets
    }
    return {"PATH": os.defpath, "LANG": LOCALE, **passed, **extra, "HOME": str(home), "TMPDIR": str(tmp)}
