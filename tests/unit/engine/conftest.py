"""A running supervisor for the tests that need one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.engine.processes import Supervisor
from tests.support.processes import Stand


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    supervisor = Supervisor()
    await supervisor.start(None, f"test-{tmp_path.name}-{id(supervisor)}")
    yield Stand(supervisor, tmp_path)
    await supervisor.close()
