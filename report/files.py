"""Files that are never half: what was there stays until all of the new is written."""

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from errno import EINVAL
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from stat import S_IMODE, S_ISREG
from tempfile import TemporaryDirectory


def write_files(files: Mapping[str | Path, bytes]) -> None:
    """Write files beside their places, and move them there when all are written: then all of them
    are new, or none is. Raises OSError with the name of the file that was asked for. Ctrl-C is
    ignored meanwhile, so that nothing is left behind."""
    with ExitStack() as folders, ExitStack() as undo:
        folders.callback(signal, SIGINT, signal(SIGINT, SIG_IGN))
        moves = {}
        try:
            for path, content in files.items():
                place = Path(os.path.realpath(path))  # of a link, where it leads
                check_place(place)
                folder = TemporaryDirectory(prefix=".lab3-", dir=place.parent)
                new = Path(folders.enter_context(folder), place.name)
                new.write_bytes(content)
                if place.exists():
                    new.chmod(S_IMODE(place.stat().st_mode))
                moves[path] = new, place
            for path in moves:
                move(*moves[path], undo)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        undo.pop_all()


def check_place(place: Path) -> None:
    """Raise OSError if a file cannot be written there: it is protected, or no regular file."""
    try:
        is_file = S_ISREG(place.stat().st_mode)
    except FileNotFoundError:
        return
    if not is_file:
        raise OSError(EINVAL, "it is not a regular file")
    with place.open("ab"):
        pass


def move(new: Path, place: Path, undo: ExitStack) -> None:
    """Move a file to its place; note how to undo that, where the file system has hard links."""
    if not place.exists():
        undo.callback(place.unlink, missing_ok=True)
    else:
        old = new.with_name("old")
        with suppress(OSError):
            os.link(place, old)
            undo.callback(os.replace, old, place)
    os.replace(new, place)
