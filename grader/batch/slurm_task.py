# SPDX-License-Identifier: MIT
"""One task of a job array: becomes the command that tasks.json has for it.   slurm_task.py TASKS.JSON compile|grade"""

import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    command = json.load(file)[int(os.environ["SLURM_ARRAY_TASK_ID"])][sys.argv[2]]
os.execv(command[0], command)
