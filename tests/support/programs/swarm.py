"""Start COUNT processes in sessions of their own that ignore every polite signal; write their ids; wait.

Arguments: COUNT, a file for the ids, and `stay`, `leave` (exit at once) or `clean` (as stay, with the
grandchildren's environment emptied).
"""

import os
import signal
import sys
import time
from pathlib import Path

count, ids, mode = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
started = []
for _ in range(count):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        with open(ids, "a") as file:
            file.write(f"{os.getpid()}\n")
        if mode == "clean":
            os.execve("/bin/sleep", ["sleep", "1000"], {})
        time.sleep(1000)
    started.append(pid)
for pid in started:
    os.waitpid(pid, 0)
if mode == "leave":
    written = Path(ids)
    while not written.exists() or len(written.read_text().splitlines()) < count:
        time.sleep(0.01)
    sys.exit(0)
time.sleep(1000)
