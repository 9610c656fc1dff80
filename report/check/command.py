"""The `check` command: one submission, or a class, as text or CSV."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from report import InputError
from report.check.judge import Judgement, judge, read_key
from report.check.reading import NoSubmissionError
from report.check.words import describe_class, describe_judgement, describe_key, format_csv
from report.options import add_question_options, read_options
from report.question import Question, prefix_question
from report.text import format_path, join_blocks

MOST_BYTES = 10**6  # of a file
LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}  # for bytes that are not UTF-8


def add_options(parser: ArgumentParser) -> None:
    """Add files, a key, what-if options, and --csv."""
    files = "what a lab3.py printed, or a folder of .txt files (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=files)
    key = "output of the course's own program, which is then right (default: lab3.py's answers)"
    parser.add_argument("--key", metavar="FILE", help=key)
    add_question_options(parser)
    parser.add_argument("--csv", action="store_true", help="print a row per file, for a gradebook")
    status = "Exit status: 0 if numbers and format are right, 1 if not, 2 if a file is unread."
    parser.description = f"{parser.description}\n{status}"


def run(options: Namespace) -> int:
    """Print what is right and the causes of the rest, and return the exit status. A file that
    cannot be judged does not stop the others."""
    question, key = read_options(options), None
    if options.key == "-" and "-" in options.files:
        raise InputError("--key: standard input cannot be both the key and a FILE")
    reading = read_key(question)  # refuses a question that neither strategy answers
    if options.key is not None:
        try:
            key = read_text(options.key)
            reading = read_key(question, key)
        except (OSError, InputError) as error:
            raise InputError(f"--key {explain_refusal(options.key, error)}") from None
    names = list_files(options.files)
    files = {name: judge_file(name, names[name], question, key) for name in names}
    if len(names) == 1 and all(names.values()) and not options.csv:
        [judged] = files.values()
        if not judged.numbers:
            raise InputError(judged.notes[0])
        text = describe_judgement(judged, reading)
    elif options.csv:
        text = format_csv(drop_folders(files), reading)
    else:
        text = describe_class(drop_folders(files), reading)
    if not options.csv:
        text = prefix_question(question, join_blocks(describe_key(reading), text))
    print(text)
    if not all(judged.numbers for judged in files.values()):
        return 2
    return 0 if all(judged.is_all_right for judged in files.values()) else 1


def list_files(names: list[str]) -> dict[str, bool]:
    """List the files, a folder's .txt files, too, and whether each is named itself."""
    files = dict[str, bool]()
    for name in names:
        texts = sorted(map(str, Path(name).glob("*.txt"))) if os.path.isdir(name) else [name]
        if not texts:
            raise InputError(f"{format_path(name)} is a folder that has no .txt file")
        for text in texts:
            files[text] = files.get(text, False) or text == name
    return files


def drop_folders(files: dict[str, Judgement]) -> dict[str, Judgement]:
    """Name files without their folders, unless two would be called the same."""
    short = {os.path.basename(name): judged for name, judged in files.items()}
    return short if len(short) == len(files) else files


def judge_file(name: str, is_named: bool, question: Question, key: str | None) -> Judgement:
    """Judge a file. If it cannot be judged, the judgement has no numbers, and a note says why."""
    try:
        if not is_named and not os.path.isfile(name):  # a pipe would be waited for
            raise NoSubmissionError("is no regular file", "it is not read")
        return judge(read_text(name), question, key)
    except (OSError, NoSubmissionError) as error:
        return Judgement([], [], [explain_refusal(name, error)], [], is_odd=True)


def explain_refusal(name: str, error: Exception) -> str:
    """Explain why a file is refused, and what to do: if it is a program, how to run it."""
    file = "standard input" if name == "-" else format_path(name)
    if isinstance(error, NoSubmissionError):
        what, advice = error.args
        yours = "YOURS" if name == "-" else shlex.quote(file)
        return f"{file} {what}: {advice.replace('YOURS', yours)}"
    return f"{file} cannot be read: {getattr(error, 'strerror', None) or error}"


def read_text(name: str) -> str:
    """Read a file, or standard input."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", "name a FILE")
        if sys.stdin.isatty():
            print("reading standard input; end with Ctrl-D", file=sys.stderr, flush=True)
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with open(name, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    return decode(data)


def decode(data: bytes) -> str:
    """Decode UTF-16, which PowerShell writes, or UTF-8, in which invalid bytes are Latin-1."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "surrogateescape").translate(LATIN_1)
