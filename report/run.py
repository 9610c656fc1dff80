"""The `run` command: what a class handed in, unpacked and run, and what each printed in a file.

This is no sandbox: a program can do whatever its user can. The limits are for accidents.
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

from report.text import count, format_path, quote

MOST_SECONDS = 10
MOST_PRINTED = 900_000  # bytes, so that notes fit behind them into the million that check takes
MOST_UNPACKED, MOST_MEMBERS = 10**8, 20_000  # bytes; files, folders and links
ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip")
HELP = """
A submission is a .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar, .zip, .py or a folder.
Its lab3.py runs for 10 s at most; ENTRY.txt has what it prints and what is odd.
A submission can do whatever you can: run this in a container without network.
Exit status: 0 if each was run, 1 if not, 2 if the submissions cannot be read."""


def add_options(parser: ArgumentParser) -> None:
    """Add the submissions and the output folder."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a submission or a folder of them")
    output = "a folder for the outputs, in which none is replaced"
    parser.add_argument("--output", metavar="FOLDER", required=True, help=output)
    parser.description = f"{parser.description}{HELP}"


def run(options: Namespace) -> int:
    """Run each submission and write what it printed. The status is 0 if each was run, else 1."""
    if not hasattr(tarfile, "data_filter"):
        raise ValueError("run needs Python 3.10.12, 3.11.4, 3.12 or newer, which unpack safely")
    entries, not_run = list_entries(options.files), 0
    os.makedirs(options.output, exist_ok=True)
    for name in entries:
        with suppress(FileNotFoundError):
            os.lstat(f"{options.output}/{name}.txt")
            raise ValueError(f"--output has {quote(f'{name}.txt')} already: name a new folder")
    for number, (name, entry) in enumerate(entries.items(), 1):
        show_progress(f"{number} of {len(entries)}: {quote(name)}")
        text, is_run = run_submission(entry)
        with open(f"{options.output}/{name}.txt", "xb") as file:
            file.write(text)
        not_run += not is_run
    show_progress("")
    failed = f"; {count(not_run, 'submission')} could not be run" if not_run else ""
    print(f"wrote {count(len(entries), 'file')} to {format_path(options.output)}{failed}")
    return min(not_run, 1)


def show_progress(text: str) -> None:
    """Show on a terminal, in the place of what it showed before, which submission runs."""
    if sys.stderr.isatty():
        print(f"{text:79}", end="\r", file=sys.stderr, flush=True)


def list_entries(names: list[str]) -> dict[str, Path]:
    """List submissions by name: files, and what is in folders and not hidden."""
    entries: dict[str, Path] = {}
    for name in names:
        try:
            os.stat(name)
            paths = sorted(Path(name).iterdir()) if os.path.isdir(name) else [Path(name)]
        except OSError as error:
            raise ValueError(f"{format_path(name)} cannot be read: {error.strerror}") from None
        visible = {path.name: path for path in paths if not path.name.startswith(".")}
        if not visible:
            raise ValueError(f"{format_path(name)} has no submission in it")
        if same := visible.keys() & entries:
            raise ValueError(f"two submissions are called {quote(min(same))}")
        entries |= visible
    return entries


def run_submission(entry: Path) -> tuple[bytes, bool]:
    """Run a submission. Return what it printed and a row for each note, and whether it was run."""
    printed, program, notes = b"", None, list[str]()
    with suppress(RecursionError), TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            program = find_program(entry, Path(folder), notes)
        except Exception as error:  # an archive can be wrong in any way
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            notes.append(f"cannot be unpacked: {ascii(reason)[1:-1][:100]}")
        if program:
            printed = run_program(program, folder, notes)
    if notes and printed and not printed.endswith(b"\n"):
        printed += b"\n"
    rows = [f"report run: {note}\n" for note in notes]
    return printed + "".join(rows).encode(), program is not None


# ------------------------------------------------ what is handed in
def find_program(entry: Path, folder: Path, notes: list[str]) -> Path | None:
    """Unpack a submission. Find its lab3.py nearest the top, or its only program; note oddities."""
    unpack(entry, folder, unsafe := list[str]())
    if unsafe:
        notes.append(f"{count(len(unsafe), 'unsafe name')} left out, such as {quote(unsafe[0])}")
    names = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    names = [name for name in names if "__MACOSX" not in name.parts and name.name[:2] != "._"]
    names.sort(key=lambda name: (len(name.parts), name))
    programs = [name for name in names if name.suffix.strip().lower() == ".py"]
    archives = [name for name in names if name.suffix.strip().lower() in ARCHIVES]
    if len(archives) == 1 and not programs:
        return find_program(folder / archives[0], Path(mkdtemp(dir=folder)), notes)
    lab3s = [name for name in programs if name.name.strip().lower() == "lab3.py"]
    if not lab3s and len(programs) != 1:
        shown = ", ".join(quote(name.as_posix()) for name in (programs or names)[:3])
        notes.append(f"was not run: there is no lab3.py, but {shown or 'no file'}")
        return None
    program = (lab3s or programs)[0]
    chosen = f"{quote(program.as_posix())} was run"
    if not lab3s:
        notes.append(f"lab3.py is missing, {chosen}")
    elif len({(folder / name).read_bytes() for name in lab3s}) > 1:
        notes.append(f"there are {len(lab3s)} lab3.py that differ, {chosen}")
    return folder / program


def unpack(entry: Path, folder: Path, unsafe: list[str]) -> None:
    """Unpack an archive, which its bytes tell, or copy a folder or program; list unsafe names."""
    if entry.is_dir():
        sizes = [path.lstat().st_size for path in entry.rglob("*")]
        check_size(len(sizes), sum(sizes))
        copytree(entry, folder, symlinks=True, dirs_exist_ok=True)
    elif not entry.is_file():
        raise ValueError("it is neither a file nor a folder")
    elif tarfile.is_tarfile(entry):
        untar(entry, folder, unsafe)
    elif is_zipfile(entry):
        unzip(entry, folder, unsafe)
    elif entry.suffix.strip().lower() in ARCHIVES:
        raise ValueError("it is damaged, or no archive of files")
    elif entry.suffix.strip().lower() == ".py":
        copyfile(entry, folder / "lab3.py")
    else:
        (folder / entry.name).touch()  # for its name alone


def untar(entry: Path, folder: Path, unsafe: list[str]) -> None:
    """Unpack a .tar, compressed or not, but for what the standard library's filter refuses."""
    size = 0
    with tarfile.open(entry) as archive:
        for members, member in enumerate(archive, 1):
            check_size(members, size := size + member.size)
            try:
                archive.extract(member, folder, filter="data")
            except tarfile.FilterError:
                unsafe.append(member.name)
        if archive.fileobj:
            archive.fileobj.read(MOST_UNPACKED)  # to the end, where a checksum is


def unzip(entry: Path, folder: Path, unsafe: list[str]) -> None:
    """Unpack a .zip but for names that leave the folder."""
    with ZipFile(entry) as archive:
        names = archive.namelist()
        check_size(len(names), sum(member.file_size for member in archive.infolist()))
        unsafe += [name for name in names if ".." in Path(name).parts]
        archive.extractall(folder, [name for name in names if name not in unsafe])


def check_size(members: int, size: int) -> None:
    """Raise ValueError for more than is unpacked."""
    if members > MOST_MEMBERS or size > MOST_UNPACKED:
        raise ValueError(f"it has more than {MOST_MEMBERS:,} files or {MOST_UNPACKED:,} bytes")


# ------------------------------------------------ running
def run_program(program: Path, folder: str, notes: list[str]) -> bytes:
    """Run a program. Return what it printed, but no row that is cut; note how it was ended."""
    with TemporaryFile() as out:  # what the program starts may keep a pipe open
        status = wait_for(program, folder, out)
        out.seek(0)
        printed = out.read(MOST_PRINTED + 1)
    if len(printed) > MOST_PRINTED:
        notes.append(f"printed more than {MOST_PRINTED:,} bytes")
        return printed[: printed.rfind(b"\n") + 1 or -1]
    if status is None:
        notes.append(f"stopped after {MOST_SECONDS} s")
    elif status < 0:
        names = {-number: number.name for number in signal.Signals}
        notes.append(f"killed: {names.get(status, f'signal {-status}')}")
    return printed


def wait_for(program: Path, folder: str, out: IO[bytes]) -> int | None:
    """Run a program where it lies, without input; return its status, or None if it was stopped."""
    argv, home = [sys.executable, "-u", "-X", "utf8", str(program)], program.parent
    env = {**os.environ, "TMPDIR": folder}  # by which kill_all knows it
    process = Popen(
        argv, cwd=home, env=env, stdin=DEVNULL, stdout=out, stderr=STDOUT, start_new_session=True
    )
    try:
        end = time.monotonic() + MOST_SECONDS
        while (status := process.poll()) is None and time.monotonic() < end:
            if os.fstat(out.fileno()).st_size > MOST_PRINTED:
                break
            time.sleep(0.01)
        return status
    finally:
        kill_all(process, os.fsencode(folder))


def kill_all(process: Popen[bytes], mark: bytes) -> None:
    """Kill a program's group and, if there is a /proc, all with a mark in their environment."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        process.kill() if os.name == "nt" else os.killpg(process.pid, signal.SIGKILL)
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is somebody else's
            if mark in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)
    process.wait()
