"""Answer one line per request; the request says how: `say TEXT`, `half`, `two`, `late`, `crash` and so on."""

import os
import signal
import subprocess
import sys
import time

out = sys.stdout.buffer
print("ready", file=sys.stderr, flush=True)
for line in sys.stdin.buffer:
    word, _, text = line.rstrip(b"\n").partition(b" ")
    if word == b"say":
        out.write(text + b"\n")
    elif word == b"warn":
        sys.stderr.buffer.write(text + b"\n")
        sys.stderr.flush()
        out.write(b"warned\n")
    elif word == b"length":
        out.write(b"%d\n" % len(text))
    elif word == b"half":
        out.write(b"only half")
    elif word == b"two":
        out.write(b"one\ntwo\n")
    elif word == b"late":
        out.write(b"one\n")
        out.flush()
        time.sleep(float(text))
        out.write(b"two\n")
    elif word == b"long":
        block = b"x" * 1_000_000
        for _ in range(int(text)):
            out.write(block)
        out.write(b"\n")
    elif word == b"chatter":
        while True:
            sys.stderr.write("y" * 10_000)
    elif word == b"crash":
        out.write(b"before the cra")
        out.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    elif word == b"exit":
        sys.exit(int(text))
    elif word == b"last":
        out.write(b"farewell\n")
        out.flush()
        sys.exit(0)
    elif word == b"deaf":
        os.close(1)
        time.sleep(1000)
    elif word == b"helper":
        subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL)
        out.write(b"helped\n")
    elif word == b"orphan":
        subprocess.run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $! >&2"], check=True)
        out.write(b"done\n")
    elif word == b"spin":
        until = time.process_time() + float(text)
        while time.process_time() < until:
            pass
        out.write(b"spun\n")
    out.flush()
if os.environ.get("LINGER"):
    time.sleep(1000)
