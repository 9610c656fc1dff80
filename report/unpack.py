"""What was handed in: the files of an archive, a folder or a program, and which of them to run.

They are names and bytes before any of them is written, so no link is followed and none is made.
"""

import os
import tarfile
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePath, PureWindowsPath
from stat import S_IFMT, S_IFREG
from typing import IO
from zipfile import ZipFile, is_zipfile

from report.text import count, quote

MOST_UNPACKED, MOST_MEMBERS = 10**8, 20_000  # bytes; files and folders
ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip")
Member = tuple[str, bytes | None]  # a name, that of a folder with a slash behind it; None if unsafe


def unpack(entry: Path, folder: Path, notes: list[str]) -> Path:
    """Write a submission's files into a folder, and note what is odd about them. Return the
    lab3.py nearest the top, or the only program. Raises ValueError if there is neither."""
    files, left_out = read_submission(entry)
    if left_out:
        more = f" and {len(left_out) - 1} more" * (len(left_out) > 1)
        notes.append(f"left out {quote(left_out[0])}{more}: not a readable file in its folder")
    programs = sorted(filter(is_program, files), key=lambda path: (len(path.parts), path))
    lab3s = [path for path in programs if is_lab3(path)]
    if not lab3s and len(programs) != 1:
        raise ValueError(f"it has {count(len(programs), 'program')}, none called lab3.py")
    program = (lab3s or programs)[0]
    if not lab3s:
        notes.append(f"lab3.py is missing, {quote(program.as_posix())} was run")
    elif len({files[path] for path in lab3s}) > 1:
        name = quote(program.as_posix())
        notes.append(f"there are {len(lab3s)} lab3.py that differ, {name} was run")
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder / program


def is_program(path: PurePath) -> bool:
    """Return whether a file is called like a program."""
    return path.suffix.strip().lower() == ".py"


def is_lab3(path: PurePath) -> bool:
    """Return whether a file is called lab3.py."""
    return path.name.strip().lower() == "lab3.py"


def is_archive(path: PurePath) -> bool:
    """Return whether a file is called like an archive."""
    return path.suffix.strip().lower() in ARCHIVES


def read_submission(entry: Path) -> tuple[dict[PurePath, bytes], list[str]]:
    """Read a submission's files, and those of an archive in it. Return them, and the names that are
    left out. Raises ValueError for what cannot be read or is too large."""
    files, left_out, room = dict[PurePath, bytes](), list[str](), MOST_UNPACKED
    members = chain(read_entry(entry), read_inner(files))  # the latter when files is complete
    for number, (name, data) in enumerate(members, 1):
        room -= len(data or b"")
        if room < 0 or number > MOST_MEMBERS:
            raise ValueError(f"it has more than {MOST_MEMBERS:,} files or {MOST_UNPACKED:,} bytes")
        place = PureWindowsPath(name)  # splits at / and at \
        if data is None or place.anchor or ".." in place.parts:
            left_out.append(name)
        elif not (name.endswith(("/", "\\")) or is_of_macos(place)):
            files[PurePath(*place.parts)] = data
    return files, left_out


def is_of_macos(path: PurePath) -> bool:
    """Return whether macOS has added a file to an archive."""
    return "__MACOSX" in path.parts or path.name.startswith("._")


def read_entry(entry: Path) -> Iterator[Member]:
    """Read a folder, a program or an archive."""
    if entry.is_symlink():
        raise ValueError("it is a link")
    if entry.is_dir():
        for path in sorted(entry.rglob("*")):
            is_safe = not path.is_symlink() and os.access(path, os.R_OK)
            name = str(path.relative_to(entry))
            if is_safe and path.is_file():
                with path.open("rb") as file:
                    yield name, file.read(MOST_UNPACKED + 1)
            else:
                yield (f"{name}/", b"") if is_safe and path.is_dir() else (name, None)
    elif entry.is_file():
        with entry.open("rb") as file:
            if is_program(entry):
                yield "lab3.py", file.read(MOST_UNPACKED + 1)
            else:
                yield from read_archive(entry.name, file)
    else:
        raise ValueError("it is neither a file nor a folder")  # reading a pipe would block


def read_inner(files: dict[PurePath, bytes]) -> Iterator[Member]:
    """Read the only archive among files without a program."""
    archives = [path for path in files if is_archive(path)]
    if len(archives) == 1 and not any(map(is_program, files)):
        yield from read_archive(archives[0].name, BytesIO(files[archives[0]]))


def read_archive(name: str, file: IO[bytes]) -> Iterator[Member]:
    """Read a .tar, compressed or not, or a .zip, whatever it is called."""
    is_tar = tarfile.is_tarfile(file)
    file.seek(0)
    if is_tar:
        with tarfile.open(fileobj=file) as tar:
            for member in tar:
                data = tar.extractfile(member) if member.isfile() else None
                if member.isdir():
                    yield f"{member.name}/", b""
                else:
                    yield member.name, data.read(MOST_UNPACKED + 1) if data else None
    elif is_zipfile(file):
        with ZipFile(file) as archive:
            for info in archive.infolist():
                if info.flag_bits & 1:
                    raise ValueError("it is encrypted")
                is_plain = S_IFMT(info.external_attr >> 16) in (0, S_IFREG)
                is_folder = info.filename.endswith(("/", "\\"))
                with archive.open(info) as data:
                    yield (
                        info.filename,
                        data.read(MOST_UNPACKED + 1) if is_plain or is_folder else None,
                    )
    else:
        raise ValueError(f"{quote(name)} is not an archive, program or folder")
