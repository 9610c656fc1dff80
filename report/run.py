"""The `run` command: runs a class's submissions, and writes what each program prints to a file.

It is no sandbox: a program can do whatever its user can. The limits only prevent accidents.
"""

import os
import re
import signal
import site
import sys
import time
from argparse import ArgumentParser, Namespace
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO

from report import InputError
from report.files import write_files
from report.text import format_path, quote
from report.unpack import is_archive, is_lab3, is_program, unpack

MOST_SECONDS = 10
MOST_PRINTED = 900_000  # bytes: check reads a million, notes included
# /bin/sh's units: KiB of memory; blocks of a file, of 512 bytes or, in some shells, 1,024.
LIMIT = ["/bin/sh", "-c", '{ ulimit -v 3900000; ulimit -f 195000; } 2>/dev/null; exec "$0" "$@"']
KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")  # other variables may be secret
SETTINGS = {"LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}  # threads need memory
SIGNALS = {
    number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
}
REPLACED = "what was in this text's place was replaced: did a submission write it?"
NO_SANDBOX = "This is no sandbox: a submission can do whatever you can."
HELP = f"""
A submission is a .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar, .zip, .py or a folder
whose lab3.py imports what else is in it. ENTRY.txt has what lab3.py prints on
standard output, then notes, such as how it failed, in rows "report run: ...".
At most: 10 s, 900,000 bytes printed, files of 200 MB, on Linux 4 GB of memory
for a process; 100,000,000 bytes and 20,000 files in a submission.
{NO_SANDBOX} Run this
in a container without network. Then check the outputs anywhere: check FOLDER.
Exit status: 0 if each was run, 1 if not, 2 if the submissions cannot be read."""


def add_options(parser: ArgumentParser) -> None:
    """Add the submissions and the output folder."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a submission or a folder of them")
    parser.add_argument("--output", metavar="FOLDER", required=True, help="where to write outputs")
    parser.description = f"{parser.description}{HELP}"


def run(options: Namespace) -> int:
    """Run each submission and write its text. Return 0 if each could be run, else 1."""
    entries = list_entries(options.files)
    places = find_places(options.output, entries)
    is_watched = sys.stderr.isatty()
    if is_watched:
        print(NO_SANDBOX, file=sys.stderr)
    texts, noted, runs = dict[str, bytes](), set[str](), 0
    with catch_signals() as received:
        for number, (name, entry) in enumerate(entries.items(), 1):
            if is_watched:
                print(f"{number} of {len(entries)}: {quote(name)}", file=sys.stderr)
            printed, notes, is_run = run_submission(entry, received)
            if received:
                raise KeyboardInterrupt
            texts[name], runs = make_text(printed, notes), runs + is_run
            if write_text(places[name], texts[name]) or notes:
                noted.add(name)
        for name, text in texts.items():  # a later submission may have changed it
            if write_text(places[name], text):
                noted.add(name)
    for given in options.files:
        if os.path.isdir(given) and Path(os.path.abspath(given)) in entries.values():
            print(f"{format_path(given)} is one submission; to run each of its files, name them")
    told = f"{runs} of {len(entries)} submissions were run, {len(noted)} have notes"
    print(f"{told}; see {format_path(options.output)}")
    return int(runs < len(entries))


@contextmanager
def catch_signals() -> Iterator[list[int]]:
    """Collect the signals that would end the command, for it must stop the program first."""
    received = list[int]()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in handlers.items():
            if handler != signal.SIG_IGN:  # by nohup
                signal.signal(number, lambda number, _: received.append(number))
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


# ------------------------------------------------ submissions and texts
def list_entries(names: list[str]) -> dict[str, Path]:
    """List submissions by name: files, folders that are one, and what is in other folders and not
    hidden."""
    entries: dict[str, Path] = {}
    for name in names:
        path = Path(os.path.abspath(name))
        if not os.access(path, os.R_OK):
            raise InputError(f"{format_path(name)} does not exist or cannot be read")
        is_class = path.is_dir() and not is_submission(path)
        paths = sorted(path.iterdir()) if is_class else [path]
        visible = {path.name: path for path in paths if not path.name.startswith(".")}
        if not visible:
            raise InputError(f"{format_path(name)} has no submission in it")
        known = {name.lower() for name in entries}  # some file systems ignore case
        if same := [name for name in visible if name.lower() in known]:
            raise InputError(f"two submissions are called {quote(min(same))}")
        entries |= visible
    return entries


def is_submission(folder: Path) -> bool:
    """Return whether a folder is one submission: its lab3.py imports another file or folder in it,
    or there is no other program, archive or folder, which could be a submission of its own."""
    lab3s = [*filter(is_lab3, folder.iterdir())]
    others = [path for path in folder.iterdir() if path.name[0] not in "._" and path not in lab3s]
    others = [path for path in others if path.is_dir() or is_program(path) or is_archive(path)]
    text = b"".join(path.read_bytes() for path in lab3s if path.is_file()).decode("latin-1")
    imported = {*re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.MULTILINE)}
    return bool(lab3s) and (not others or any(path.stem in imported for path in others))


def find_places(folder: str, names: Iterable[str]) -> dict[str, str]:
    """Find where each submission's text goes. Raises InputError if one cannot go there."""
    os.makedirs(folder, exist_ok=True)
    places = {name: os.path.join(folder, f"{name}.txt") for name in names}
    for name, place in places.items():
        try:
            os.lstat(place)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InputError(f"{quote(name)} cannot name a text: {error.strerror}") from None
        raise InputError(f"--output has {quote(f'{name}.txt')} already: name a new folder")
    return places


def make_text(printed: bytes, notes: list[str]) -> bytes:
    """Append notes to what a program printed, in UTF-8 if that is UTF-16."""
    if printed.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        printed = printed.decode("utf-16", "replace").encode()
    if notes and printed and not printed.endswith(b"\n"):
        printed += b"\n"
    return printed + "".join(f"report run: {note}\n" for note in notes).encode()


def write_text(place: str, text: bytes) -> bool:
    """Write a text unless it is there. Return whether something else was, which is replaced."""
    path = Path(place)
    is_there = os.path.lexists(path)
    if is_there:
        if path.is_dir() and not path.is_symlink():
            rmtree(path)
        elif path.is_file() and not path.is_symlink() and path.read_bytes() == text:
            return False
        else:
            path.unlink()
        text = make_text(text, [REPLACED])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_files({place: text})
    return is_there


# ------------------------------------------------ a program
def run_submission(entry: Path, received: list[int]) -> tuple[bytes, list[str], bool]:
    """Return what a submission printed, notes on it, and whether it was run."""
    printed, notes, is_run = b"", list[str](), False
    with suppress(RecursionError), TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            program = unpack(entry, Path(folder), notes)
            printed, is_run = run_program(program, notes, received), True
        except Exception as error:  # an archive can be wrong in any way
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            notes.append(f"was not run: {format_reason(reason)}")
    return printed, notes, is_run


def format_reason(text: str) -> str:
    """Format a reason as printable ASCII, shortened if it is long."""
    printable = ascii(text)[1:-1]
    return printable if len(printable) <= 100 else f"{printable[:97]}..."


def run_program(program: Path, notes: list[str], received: list[int]) -> bytes:
    """Run a program until it ends, or a limit or a signal ends it. Return what it printed; note
    why it ended."""
    folder, settings = str(program.parent), dict(SETTINGS, PYTHONUSERBASE=site.getuserbase())
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= settings | dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP"), folder)
    process = Popen(
        [*LIMIT * (os.name == "posix"), sys.executable, "-u", "-X", "utf8", str(program)],
        cwd=folder,
        env=environment,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        bufsize=0,
        start_new_session=True,
    )
    printed, errors, status = bytearray(), bytearray(), None
    pipes = (process.stdout, printed), (process.stderr, errors)
    readers = [Thread(target=read, args=pipe, daemon=True) for pipe in pipes]
    try:
        for reader in readers:
            reader.start()
        end = time.monotonic() + MOST_SECONDS
        while (status := process.poll()) is None and time.monotonic() < end:
            if received or len(printed) > MOST_PRINTED:
                break
            time.sleep(0.01)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # the whole group has ended
            os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
        process.wait()
    for reader in readers:
        reader.join(1)
    if any(reader.is_alive() for reader in readers):  # somebody has its pipe
        notes.append("a program that it has started still runs")
    notes += describe_end(status, len(printed), errors.decode("utf-8", "replace"))
    return bytes(printed[:MOST_PRINTED])


def read(pipe: IO[bytes], kept: bytearray) -> None:
    """Read a pipe to its end; keep what comes first, up to a little more than a text may have."""
    with pipe:
        while part := pipe.read(2**16):
            if len(kept) <= MOST_PRINTED:
                kept += part


def describe_end(status: int | None, printed: int, errors: str) -> list[str]:
    """Describe why a program ended, if it was not by itself and with status 0."""
    if printed > MOST_PRINTED:
        return [f"printed more than {MOST_PRINTED:,} bytes"]
    if status is None:
        return [f"stopped after {MOST_SECONDS} s"]
    if status < 0:
        return [f"ended by signal {-status} ({signal.strsignal(-status)})"]
    last = [row.strip() for row in errors.splitlines() if row.strip()][-1:]
    return [f"ended with status {status}{''.join(f': {format_reason(row)}' for row in last)}"] * (
        status != 0
    )
