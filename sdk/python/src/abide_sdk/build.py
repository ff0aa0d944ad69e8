"""Which code a worker has, where nobody says so."""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path


@functools.cache
def hash_of_code() -> str:
    """A hash of the modules that lie where the program does, as they are on the disk: what was installed is not looked at."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if main is None:
        return ""
    home = Path(main).resolve().parent
    files = {Path(main).resolve()}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and home in Path(file).resolve().parents and "site-packages" not in file:
            files.add(Path(file).resolve())
    digest = hashlib.sha256()
    for file in sorted(files):
        try:
            content = file.read_bytes()
        except OSError:
            continue
        digest.update(f"{file.relative_to(home)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
