"""An engine that holds 300 MB and prints the kernel's peak of /bin/true. Argument: a folder for output."""

import asyncio
import sys
from pathlib import Path

from core.engine.processes import Limits, Supervisor
from core.retrievers.protocol import Step


async def main() -> None:
    ballast = b"x" * 300_000_000
    folder = Path(sys.argv[1])
    supervisor = Supervisor()
    await supervisor.start(None, "heavy")
    step = Step(("/bin/true",), folder)
    measured = await supervisor.run([step], {}, folder / "out", folder / "err", Limits(10, 10))
    await supervisor.close()
    print(measured.largest_process_peak_bytes, len(ballast))


asyncio.run(main())
