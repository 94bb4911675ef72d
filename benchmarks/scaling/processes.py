"""Time and memory of a whole process, on one thread and out of the way of others."""

import json
import os
import subprocess
import sys


def measured(module: str, *arguments: str) -> dict[str, float]:
    """Run `python -m module arguments`, which prints a JSON object on its last line, and return that."""
    command = [sys.executable, "-m", module, *arguments]
    alone = {**os.environ, "FEDSIEVE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600, env=alone)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
