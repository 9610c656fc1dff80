"""The `run` command: runs a class's submissions, and writes each program's output to a file.

It is no sandbox: a program can do whatever its user can. The limits only prevent accidents.
"""

import os
import signal
import sys
import tarfile
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from shutil import copyfile, copytree
from subprocess import DEVNULL, STDOUT, Popen
from tempfile import TemporaryDirectory, TemporaryFile, mkdtemp
from typing import IO
from zipfile import ZipFile, is_zipfile

from report import InputError
from report.text import count, format_path, quote

MOST_SECONDS = 10
MOST_PRINTED = 900_000  # bytes: check reads a million, notes included
MOST_UNPACKED, MOST_MEMBERS = 10**8, 20_000  # bytes; files, folders and links
ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip")
HELP = """
A submission is a .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar, .zip, .py or a folder.
Its lab3.py runs for at most 10 s. ENTRY.txt has the output, then notes on it.
A submission can do whatever you can: run this in a container without network.
Then check the outputs, on any machine and with any --key: check FOLDER.
Exit status: 0 if each was run, 1 if not, 2 if the submissions cannot be read."""


def add_options(parser: ArgumentParser) -> None:
    """Add the submissions and the output folder."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a submission or a folder of them")
    parser.add_argument("--output", metavar="FOLDER", required=True, help="where to write outputs")
    parser.description = f"{parser.description}{HELP}"


def run(options: Namespace) -> int:
    """Run each submission and write its output. Return 0 if each could be run, else 1."""
    if not hasattr(tarfile, "data_filter"):
        raise InputError("run needs Python 3.10.12, 3.11.4, 3.12 or newer, which unpack safely")
    entries, runs = list_entries(options.files), 0
    os.makedirs(options.output, exist_ok=True)
    if old := {f"{name}.txt" for name in entries} & {*os.listdir(options.output)}:
        raise InputError(f"--output has {quote(min(old))} already: name a new folder")
    for number, (name, entry) in enumerate(entries.items(), 1):
        if sys.stderr.isatty():
            print(f"{number} of {len(entries)}: {quote(name)}", file=sys.stderr)
        text, is_run = run_submission(entry)
        with open(f"{options.output}/{name}.txt", "xb") as file:
            file.write(text)
        runs += is_run
    print(f"{runs} of {len(entries)} submissions were run; see {format_path(options.output)}")
    return int(runs < len(entries))


def list_entries(names: list[str]) -> dict[str, Path]:
    """List submissions by name: the given files, and the entries of folders that are not hidden."""
    entries: dict[str, Path] = {}
    for name in names:
        if not os.access(name, os.R_OK):
            raise InputError(f"{format_path(name)} does not exist or cannot be read")
        paths = sorted(Path(name).iterdir()) if os.path.isdir(name) else [Path(name)]
        visible = {path.name: path for path in paths if not path.name.startswith(".")}
        if not visible:
            raise InputError(f"{format_path(name)} has no submission in it")
        if same := visible.keys() & entries:
            raise InputError(f"two submissions are called {quote(min(same))}")
        entries |= visible
    return entries


def run_submission(entry: Path) -> tuple[bytes, bool]:
    """Return what a submission printed, followed by notes, and whether it could be run."""
    printed, program, notes = b"", None, list[str]()
    with suppress(RecursionError), TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            program = find_program(entry, Path(folder), notes)
        except Exception as error:  # an archive can be wrong in any way
            reason = getattr(error, "strerror", None) or str(error)
            notes.append(f"was not run: {ascii(reason)[1:-1][:100]}")
        if program:
            printed = run_program(program, notes)
    if notes and printed and not printed.endswith(b"\n"):
        printed += b"\n"
    rows = "".join(f"report run: {note}\n" for note in notes)
    return printed + rows.encode(), program is not None


def find_program(entry: Path, folder: Path, notes: list[str]) -> Path:
    """Unpack a submission; return its lab3.py nearest the top, or only program; note oddities."""
    if unsafe := unpack(entry, folder):
        notes.append(f"{count(len(unsafe), 'unsafe name')} left out, such as {quote(unsafe[0])}")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name[:2] != "._"]
    files = [path for path in files if "__MACOSX" not in path.parts]
    programs = [path for path in files if path.suffix.strip().lower() == ".py"]
    archives = [path for path in files if path.suffix.strip().lower() in ARCHIVES]
    if len(archives) == 1 and not programs:
        return find_program(archives[0], Path(mkdtemp(dir=folder)), notes)
    programs.sort(key=lambda path: (len(path.parts), path))
    lab3s = [path for path in programs if path.name.strip().lower() == "lab3.py"]
    if not lab3s and len(programs) != 1:
        raise ValueError(f"it has {count(len(programs), 'program')}, none called lab3.py")
    program = (lab3s or programs)[0]
    name = quote(program.relative_to(folder).as_posix())
    if not lab3s:
        notes.append(f"lab3.py is missing, {name} was run")
    elif len({path.read_bytes() for path in lab3s}) > 1:
        notes.append(f"there are {len(lab3s)} lab3.py that differ, {name} was run")
    return program


def unpack(entry: Path, folder: Path) -> list[str]:
    """Unpack an archive, or copy a folder or program. Return the unsafe names left out."""
    if not (entry.is_file() or entry.is_dir()):
        raise ValueError("it is neither a file nor a folder")  # reading a pipe would block
    if entry.is_dir():
        copytree(entry, folder, symlinks=True, dirs_exist_ok=True)
    elif entry.suffix.strip().lower() == ".py":
        copyfile(entry, folder / "lab3.py")
    elif tarfile.is_tarfile(entry):
        return untar(entry, folder)
    elif is_zipfile(entry):
        return unzip(entry, folder)
    else:
        raise ValueError(f"{quote(entry.name)} is not an archive, program or folder")
    return []


def untar(entry: Path, folder: Path) -> list[str]:
    """Unpack a .tar, compressed or not. Return the names that the library's filter left out."""
    size, unsafe = 0, []
    with tarfile.open(entry) as archive:
        for members, member in enumerate(archive, 1):
            check_size(members, size := size + member.size)
            try:
                archive.extract(member, folder, filter="data")
            except tarfile.FilterError:
                unsafe.append(member.name)
    return unsafe


def unzip(entry: Path, folder: Path) -> list[str]:
    """Unpack a .zip. Return the names left out because they lead out of the folder."""
    with ZipFile(entry) as archive:
        names = archive.namelist()
        check_size(len(names), sum(member.file_size for member in archive.infolist()))
        unsafe = [name for name in names if ".." in Path(name).parts]
        archive.extractall(folder, [name for name in names if name not in unsafe])
    return unsafe


def check_size(members: int, size: int) -> None:
    """Raise ValueError for an archive that is too large."""
    if members > MOST_MEMBERS or size > MOST_UNPACKED:
        raise ValueError(f"it has more than {MOST_MEMBERS:,} files or {MOST_UNPACKED:,} bytes")


def run_program(program: Path, notes: list[str]) -> bytes:
    """Run a program. Return its output, truncated if it is long; note why the program ended."""
    with TemporaryFile() as output:  # a pipe stays open as long as a child of the program
        status = wait_for(program, output)
        output.seek(0)
        printed = output.read(MOST_PRINTED + 1)
    if len(printed) > MOST_PRINTED:
        notes.append(f"printed more than {MOST_PRINTED:,} bytes")
    elif status is None:
        notes.append(f"stopped after {MOST_SECONDS} s")
    elif status < 0:
        names = {-number: number.name for number in signal.Signals}
        notes.append(f"killed: {names.get(status, f'signal {-status}')}")
    return printed[:MOST_PRINTED]


def wait_for(program: Path, output: IO[bytes]) -> int | None:
    """Run a program in its folder. Return its status, or None if it was stopped."""
    argv, folder = [sys.executable, "-u", "-X", "utf8", str(program)], program.parent
    with Popen(
        argv, cwd=folder, stdin=DEVNULL, stdout=output, stderr=STDOUT, start_new_session=True
    ) as process:
        try:
            end = time.monotonic() + MOST_SECONDS
            while process.poll() is None and time.monotonic() < end:
                if os.fstat(output.fileno()).st_size > MOST_PRINTED:
                    break
                time.sleep(0.01)
            return process.returncode
        finally:
            with suppress(ProcessLookupError, PermissionError):  # the whole group has ended
                os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
