"""Fork without end, up to 400 processes in all; write each id. Argument: the file for the ids."""

import os
import signal
import sys
import time
from pathlib import Path

ids = Path(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while ids.stat().st_size < 400 * 7:
    if os.fork() == 0:
        os.setsid()
        with ids.open("a") as file:
            file.write(f"{os.getpid():6}\n")
    time.sleep(0.02)
time.sleep(1000)
