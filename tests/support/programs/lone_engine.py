"""An engine that locks a file and runs a swarm until somebody kills it.

Arguments: the lock file, the file for the swarm's ids, a folder for output, the token.
"""

import asyncio
import fcntl
import os
import sys
from pathlib import Path

from core.engine.processes import Limits, Supervisor
from core.retrievers.protocol import Step


async def main() -> None:
    lock, ids, folder, token = sys.argv[1:]
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    supervisor = Supervisor()
    await supervisor.start(descriptor, token)
    program = Path(__file__).with_name("swarm.py")
    step = Step((sys.executable, "-I", "-S", str(program), "5", ids, "stay"), Path(folder))
    print(supervisor.pid, flush=True)
    await supervisor.run(
        [step], dict(os.environ), Path(folder, "out"), Path(folder, "err"), Limits(60, 10_000)
    )


asyncio.run(main())
