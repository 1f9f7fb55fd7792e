"""Run one peer command, sample the resident memory of its process tree, append its result.

usage: python measure.py RESULTS.jsonl -- COMMAND...
The command prints lines that start with 'RESULT ' followed by JSON; each is
written to RESULTS.jsonl with loadavg_before, peak_rss_mib (highest sum of RSS
over the tree, sampled 5 times a second; one figure for the whole process) and
the wall time of the process.
"""

import json
import os
import subprocess
import sys
import threading
import time

import psutil

out, cmd = sys.argv[1], sys.argv[sys.argv.index("--") + 1 :]
load = os.getloadavg()
t0 = time.time()
p = subprocess.Popen(
    cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
)
peak, done = 0, False


def sample():
    global peak
    root = psutil.Process(p.pid)
    kids, k = [], 0
    while not done:
        try:
            if k % 5 == 0:
                kids = root.children(recursive=True)
            k += 1
            s = 0
            for q in [root] + kids:
                try:
                    s += q.memory_info().rss
                except psutil.Error:
                    pass
            peak = max(peak, s)
        except psutil.Error:
            pass
        time.sleep(0.2)


th = threading.Thread(target=sample)
th.start()
results, tail = [], []
for line in p.stdout:
    if line.startswith("RESULT "):
        results.append(json.loads(line[7:]))
    else:
        tail = (tail + [line.rstrip()])[-40:]
rc = p.wait()
done = True
th.join()
for r in results or [{"failed": True, "cmd": cmd[-6:], "tail": tail[-8:]}]:
    r.update(
        loadavg_before=[round(x, 2) for x in load],
        peak_rss_mib=peak >> 20,
        rc=rc,
        tree_wall_s=round(time.time() - t0, 1),
        at=time.strftime("%H:%M:%S"),
    )
    with open(out, "a") as f:
        f.write(json.dumps(r) + "\n")
    print(json.dumps(r))
if rc or not results:
    print("\n".join(tail))
