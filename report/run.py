"""The `run` command: runs a class's submissions, and writes what each program prints to a file."""

import os
import re
import signal
import site
import sys
import tarfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from io import BytesIO
from pathlib import Path, PureWindowsPath
from shutil import rmtree
from stat import S_ISLNK
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO, Any
from zipfile import ZipFile, is_zipfile

from report import InputError
from report.files import write_files
from report.text import count, format_path, quote

MOST_SECONDS, MOST_PRINTED = 10, 900_000  # bytes: check reads a million, notes included
MOST_UNPACKED, MOST_FILES = 10**8, 20_000  # bytes; files and links of a submission
# ulimit takes KiB of memory, and blocks of 512 bytes of a file (sh; 1,024 in bash).
LIMIT = ["/bin/sh", "-c", '{ ulimit -v 3900000; ulimit -f 195000; } 2>/dev/null; exec "$0" "$@"']
KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")  # other variables may be secret
SETTINGS = {"LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}  # threads need memory
SIGNALS = [getattr(signal, f"SIG{name}", signal.SIGINT) for name in ("INT", "TERM", "HUP", "QUIT")]
ARCHIVE = re.compile(r"\.(tar|gz|tgz|bz2|xz|zip)\s*$", re.IGNORECASE)
PROGRAM, LAB3 = (re.compile(name, re.IGNORECASE) for name in (r"\.py\s*$", r"(^|/)\s*lab3\.py\s*$"))
NO_SANDBOX = "No sandbox: a submission can do whatever you can."
HELP = f"""
A submission is a .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar, .zip, .py or a folder.
ENTRY.txt has what its lab3.py prints, then notes: a failure, what is left out.
At most 10 s, 900,000 bytes printed, files of 100 MB, 4 GB of memory (on Linux),
20,000 files, 100 MB unpacked. {NO_SANDBOX}
Run this in a container without network; then check the outputs: check FOLDER.
Exit status: 0 if each was run, 1 if not, 2 if the submissions cannot be read."""


def add_options(parser: ArgumentParser) -> None:
    """Add the submissions and the output folder."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a submission or a folder of them")
    parser.add_argument("--output", metavar="FOLDER", required=True, help="where to write outputs")
    parser.description = f"{parser.description}{HELP}"


def run(options: Namespace) -> int:
    """Run each submission and write its text. Return 0 if each could be run, else 1."""
    entries, runs, noted = list_entries(options.files), 0, 0
    os.makedirs(options.output, exist_ok=True)
    if old := {f"{name}.txt" for name in entries} & {*os.listdir(options.output)}:
        raise InputError(f"--output has {quote(min(old))} already: name a new folder")
    if sys.stderr.isatty():
        print(NO_SANDBOX, file=sys.stderr)
    for number, (name, entry) in enumerate(entries.items(), 1):
        if sys.stderr.isatty():
            print(f"{number} of {len(entries)}: {quote(name)}", file=sys.stderr)
        printed, notes, is_run = run_submission(entry)
        place = f"{options.output}/{name}.txt"
        if os.path.lexists(place):
            notes.append("something had been written in this text's place, and was replaced")
            is_folder = os.path.isdir(place) and not os.path.islink(place)
            rmtree(place) if is_folder else os.unlink(place)
        write_files({place: make_text(printed, notes)})
        runs, noted = runs + is_run, noted + bool(notes)
    for given in options.files:
        if os.path.isdir(given) and Path(os.path.abspath(given)) in entries.values():
            print(f"{format_path(given)} is one submission; to run each of its files, name them")
    print(f"{runs} of {len(entries)} ran, notes on {noted}; see {format_path(options.output)}")
    return int(runs < len(entries))


def list_entries(given: list[str]) -> dict[str, Path]:
    """List submissions by name: what is given, or what is in a folder that is a class's."""
    entries: dict[str, Path] = {}
    for name in given:
        path = Path(os.path.abspath(name))
        if not os.access(path, os.R_OK):
            raise InputError(f"{format_path(name)} does not exist or cannot be read")
        names = os.listdir(path) if path.is_dir() else ["lab3.py"]
        is_class = not any(map(LAB3.search, names)) or any(map(ARCHIVE.search, names))
        paths = sorted(path.iterdir()) if is_class else [path]
        visible = {path.name: path for path in paths if path.name[:1] != "."}
        if not visible:
            raise InputError(f"{format_path(name)} has no submission in it")
        if same := {*map(str.lower, visible)} & {*map(str.lower, entries)}:
            raise InputError(f"two submissions are called {quote(min(same))}")
        if long := [name for name in visible if len(os.fsencode(f"{name}.txt")) > 255]:
            raise InputError(f"{quote(long[0])} is too long: shorten this name to 251 bytes")
        entries |= visible
    return entries


def run_submission(entry: Path) -> tuple[bytes, list[str], bool]:
    """Return what a submission printed, notes, and whether it was run. Tidies up at a signal."""
    printed, notes, is_run, received = b"", list[str](), False, list[int]()
    with ExitStack() as stack:
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:  # by nohup
                handler = signal.signal(number, lambda number, _: received.append(number))
                stack.callback(signal.signal, number, handler)
        stack.enter_context(suppress(RecursionError))  # folders too deep to be removed
        folder = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        try:
            program = unpack(entry, Path(folder), notes)
            printed, is_run = run_program(program, notes, received), True
        except Exception as error:  # an archive can be wrong in any way
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            notes.append(f"was not run: {ascii(reason)[1:-1][:100]}")
    if received:
        raise KeyboardInterrupt
    return printed, notes, is_run


def run_program(program: Path, notes: list[str], received: list[int]) -> bytes:
    """Run a program up to a limit or a signal. Return what it printed; note how it failed."""
    argv = [*LIMIT * (os.name == "posix"), sys.executable, "-u", "-X", "utf8", str(program)]
    cwd, env = program.parent, {name: os.environ[name] for name in KEPT if name in os.environ}
    env |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP"), str(cwd))
    env |= {**SETTINGS, "PYTHONUSERBASE": site.getuserbase()}  # of `pip install --user`
    pipes: Any = {"stdin": DEVNULL, "stdout": PIPE, "stderr": PIPE}
    process = Popen(argv, cwd=cwd, env=env, start_new_session=True, **pipes)
    printed, errors, end = bytearray(), bytearray(), time.monotonic() + MOST_SECONDS
    targets = (process.stdout, printed), (process.stderr, errors)
    readers = [Thread(target=read, args=target, daemon=True) for target in targets]
    for reader in readers:
        reader.start()
    while (status := process.poll()) is None and time.monotonic() < end:
        if received or len(printed) > MOST_PRINTED:
            break
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):  # the whole group has ended
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
    process.wait()
    for reader in readers:
        reader.join(1)  # a program that it started, in a session of its own, may have the pipe
    last = ascii(errors.decode("utf-8", "replace").strip().rpartition("\n")[2])[1:-1][:100]
    if len(printed) > MOST_PRINTED:
        notes.append(f"printed more than {MOST_PRINTED:,} bytes")
    elif status is None:
        notes.append(f"stopped after {MOST_SECONDS} s")
    elif status < 0:
        notes.append(f"ended by signal {-status} ({signal.strsignal(-status)})")
    elif status > 0:
        notes.append(f"ended with status {status}: {last}".removesuffix(": "))
    return bytes(printed[:MOST_PRINTED])


def read(pipe: IO[bytes], kept: bytearray) -> None:
    """Read a pipe to its end; keep what comes first, a little more than a text may have."""
    with pipe:
        while data := os.read(pipe.fileno(), 2**16):
            kept += data if len(kept) <= MOST_PRINTED else b""


def make_text(printed: bytes, notes: list[str]) -> bytes:
    """Append notes to what a program printed, which becomes UTF-8 if it is UTF-16."""
    if printed.startswith((b"\xff\xfe", b"\xfe\xff")):
        printed = printed.decode("utf-16", "replace").encode()
    printed += b"\n" * (notes != [] and printed[-1:] not in (b"", b"\n"))
    return printed + "".join(f"report run: {note}\n" for note in notes).encode()


def unpack(entry: Path, folder: Path, notes: list[str]) -> Path:
    """Write a submission into a folder. Return its lab3.py nearest the top, or only program."""
    files = read_files(entry, notes)
    programs, lab3s = [*filter(PROGRAM.search, files)], [*filter(LAB3.search, files)]
    if not lab3s and len(programs) != 1:
        raise ValueError(f"it has {count(len(programs), 'program')}, none called lab3.py")
    program = min(lab3s or programs, key=lambda name: (name.count("/"), name))
    if not lab3s:
        notes.append(f"lab3.py is missing, {quote(program)} was run")
    elif len({files[name] for name in lab3s}) > 1:
        notes.append(f"there are {len(lab3s)} lab3.py that differ, {quote(program)} was run")
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / program


def read_files(entry: Path, notes: list[str]) -> dict[str, bytes]:
    """Read a submission's files, so that no link is followed or made; note what is left out."""
    files, skipped, room = dict[str, bytes](), list[str](), MOST_UNPACKED
    for number, (name, file) in enumerate(list_members(entry, files), 1):
        data = file.read(room + 1) if file else b""
        room -= len(data)
        if room < 0 or number > MOST_FILES:
            raise ValueError(f"it has more than {MOST_FILES:,} files or {MOST_UNPACKED:,} bytes")
        path = PureWindowsPath(name)  # splits at / and at \
        if file is None or path.anchor or ".." in path.parts:
            skipped.append(name)
        elif "__MACOSX" not in path.parts and not path.name.startswith("._"):
            files[path.as_posix()] = data
    if skipped:
        notes.append(f"{count(len(skipped), 'name')} left out, such as {quote(skipped[0])}")
    return files


def list_members(entry: Path, files: dict[str, bytes]) -> Iterator[tuple[str, IO[bytes] | None]]:
    """List a submission's files (None: a link, ...), then, from `files`, an inner archive's."""
    if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
        raise ValueError("it is a link or a pipe, not a file")  # to open a pipe would block
    if entry.is_file():
        with entry.open("rb") as file:
            yield from list_archive(entry.name, file)
    for path in sorted(entry.rglob("*")):
        is_safe = os.access(path, os.R_OK) and not path.is_symlink()
        if not (is_safe and path.is_dir()):
            opened = path.open("rb") if is_safe and path.is_file() else None
            yield str(path.relative_to(entry)), opened
    archives = [*filter(ARCHIVE.search, files)]
    if len(archives) == 1 and not any(map(PROGRAM.search, files)):
        yield from list_archive(archives[0], BytesIO(files[archives[0]]))


def list_archive(name: str, file: IO[bytes]) -> Iterator[tuple[str, IO[bytes] | None]]:
    """List the files of a .tar, compressed or not, or a .zip, whatever its name; or a program."""
    if PROGRAM.search(name):
        yield "lab3.py", file
    elif tarfile.is_tarfile(file):
        file.seek(0)
        with tarfile.open(fileobj=file) as tar:
            for member in tar:
                if not member.isdir():
                    yield member.name, tar.extractfile(member) if member.isfile() else None
    elif is_zipfile(file):
        with ZipFile(file) as archive:
            for info in archive.infolist():
                if info.flag_bits & 1:
                    raise ValueError("it is encrypted")
                if info.filename[-1:] not in "/\\":
                    is_link = S_ISLNK(info.external_attr >> 16)
                    yield info.filename, None if is_link else archive.open(info)
    else:
        raise ValueError(f"{quote(name)} is not a .tar, .zip, program or folder")
