"""What a retriever may see of the environment."""

from pathlib import Path

import pytest

from core.engine.environment import child_environment, governing_environment
from core.errors import InputError

HOME, TMP = Path("/cell/home"), Path("/cell/tmp")


def test_only_allowed_variables_pass() -> None:
    source = {
        "PATH": "/bin",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8",
        "OPENBLAS_NUM_THREADS": "2",
        "HF_HOME": "/models",
        "HOME": "/home/user",
        "PYTHONPATH": "/evil",
        "PYTHONSTARTUP": "/evil.py",
        "GIT_DIR": "/repository",
        "XDG_CACHE_HOME": "/home/user/.cache",
        "OPENAI_API_KEY": "secret",
        "BASH_FUNC_x%%": "() { :; }",
    }

    found = child_environment({}, HOME, TMP, source=source)

    assert found == {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "2",
        "HF_HOME": "/models",
        "HOME": "/cell/home",
        "TMPDIR": "/cell/tmp",
    }


def test_secrets_pass_by_name_only() -> None:
    source = {"A_KEY": "1", "B_KEY": "2"}
    found = child_environment({}, HOME, TMP, ["A_KEY"], source)

    assert found["A_KEY"] == "1"
    assert "B_KEY" not in found


def test_a_secret_that_is_not_set_is_named() -> None:
    with pytest.raises(InputError, match="A_KEY"):
        child_environment({}, HOME, TMP, ["A_KEY"], {})


def test_extra_variables_win_but_for_home_and_tmpdir() -> None:
    extra = {"PATH": "/opt/bin", "MODEL": "x", "HOME": "/home/user", "TMPDIR": "/tmp"}
    found = child_environment(extra, HOME, TMP, source={"PATH": "/bin"})

    assert found == {
        "PATH": "/opt/bin",
        "LANG": "C.UTF-8",
        "MODEL": "x",
        "HOME": "/cell/home",
        "TMPDIR": "/cell/tmp",
    }


def test_threads_and_devices_govern_and_places_do_not() -> None:
    source = {
        "OMP_NUM_THREADS": "2",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HOME": "/m",
        "PATH": "/bin",
        "LANG": "C",
    }
    assert governing_environment(source) == {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "2"}


def test_a_path_is_always_there() -> None:
    assert child_environment({}, HOME, TMP, source={})["PATH"]
