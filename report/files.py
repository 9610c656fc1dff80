"""Files written whole or not at all: old files stay until all new ones are written."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from errno import EINVAL
from pathlib import Path
from shutil import copymode
from signal import SIGINT, raise_signal, signal
from tempfile import TemporaryDirectory


def write_files(files: Mapping[str | Path, bytes]) -> None:
    """Write files beside their places, and move them there when all are written; Ctrl-C waits for
    that. Raises OSError with the file's name as it was given."""
    interrupts = list[int]()
    with ExitStack() as folders:
        folders.callback(signal, SIGINT, signal(SIGINT, lambda it, _: interrupts.append(it)))
        moves = {}
        try:
            for path, content in files.items():
                place = Path(os.path.realpath(path))  # the target of a link
                if os.path.lexists(place):
                    place.stat()  # raises OSError for links that lead to each other
                    if not place.is_file():
                        raise OSError(EINVAL, "it is not a regular file")
                    place.open("ab").close()  # raises it for a protected file
                folder = TemporaryDirectory(prefix=".lab3-", dir=place.parent)
                new = Path(folders.enter_context(folder), place.name)
                new.write_bytes(content)
                if place.exists():
                    copymode(place, new)
                moves[path] = new, place
            for path in moves:
                os.replace(*moves[path])
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    if interrupts:
        raise_signal(SIGINT)
