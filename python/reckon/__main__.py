"""python -m reckon: the command `reckon`, which is installed beside this package."""
from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def main() -> None:
    here = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    command = shutil.which("reckon", path=os.pathsep.join(here)) or shutil.which("reckon")
    if not command:
        sys.exit("the command reckon is neither beside this Python nor in PATH: pip install --force-reinstall reckon")
    os.execv(command, ["reckon", *sys.argv[1:]])


if __name__ == "__main__":
    main()
