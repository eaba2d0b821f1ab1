"""The command line, as a process of its own that also knows the fake retriever of the tests."""

import os
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root))

import core.retrievers  # noqa: E402
from core.cli import main  # noqa: E402
from core.engine import machine  # noqa: E402

core.retrievers.__path__.append(str(root / "tests/support/retrievers"))
os.environ[machine.VARIABLE] = f"boresight-test-{os.getpid()}"
sys.exit(main(sys.argv[1:]))
