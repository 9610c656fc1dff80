"""README.md: its commands work in order, and what it shows is what comes out. Every text: the files
that it names exist."""

import doctest
import io
import re
import shutil
import tarfile
import tokenize

import pytest

from program import PROJECT, shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")
TESTS_README = (PROJECT / "tests" / "README.md").read_text(encoding="utf-8")
CI = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
LASTING = re.compile("pip install|pytest|tests[./]tools")  # is for people, or for .ci/run


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


COMMANDS = [
    re.split(r"\s{2,}#", line)[0].strip()
    for block in blocks("sh")
    for line in block.replace("\\\n", "").splitlines()
]
SESSIONS = [  # a command and what it prints, of which a block may hold several
    session.split("\n", 1)
    for block in blocks("console")
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The project, where what the commands write does not stay in it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT / "report", folder / "report")
    shutil.copy2(PROJECT / "lab3.py", folder)
    return folder


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(copied, command, shown):
    result = shell(command, cwd=copied)
    printed = result.stdout + result.stderr
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


def test_its_commands_work_in_order(copied):
    for command in COMMANDS:
        if not LASTING.search(command):
            result = shell(command.replace(".venv/bin/python", "python3"), cwd=copied)
            assert (result.returncode, result.stderr) == (0, ""), command
    (packed,) = copied.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        assert archive.getnames() == ["lab3.py"]
        submitted = archive.extractfile("lab3.py").read()
    assert submitted == (PROJECT / "lab3.py").read_bytes()


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_ci_runs_the_three_steps():
    lines = "".join(blocks("sh") + blocks("sh", TESTS_README)).splitlines()
    alone, *others = [line for line in lines if "pytest" in line and "pip install" in line]
    _, _, in_a_venv = alone.partition(" && ")
    assert in_a_venv.replace(".venv", '"$small"') in CI.splitlines()
    assert len(others) == 2 and {*others} <= {*CI.splitlines()}


# ------------------------------------------------ files that are named

TEXTS = {
    file: file.read_text(encoding="utf-8")
    for folder in (".", "report", "tests", ".ci")
    for file in (PROJECT.glob("*") if folder == "." else (PROJECT / folder).rglob("*"))
    if file.suffix in {".py", ".md", ".txt", ".typ", ".toml", ".ini"} or file.name == "run"
}


def prose(file):
    """Its comments and docstrings, or all of a text that is no program."""
    if file.suffix != ".py":
        return TEXTS[file]
    tokens = tokenize.generate_tokens(io.StringIO(TEXTS[file]).readline)
    is_prose = {tokenize.COMMENT: "#", tokenize.STRING: '"""'}
    return "\n".join(it.string for it in tokens if it.string.startswith(is_prose.get(it.type, "-")))


def test_every_file_that_a_text_names_exists():
    known, paths, names = {text.name for text in TEXTS}, [], []
    for file, text in TEXTS.items():
        if file.suffix == ".md":
            paths += [file.parent / it for it in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)]
        in_project = re.findall(r"(?<![\w/.-])(?:tests|report|\.ci)/[\w./-]*\w", text)
        paths += [PROJECT / path for path in in_project]
        names += [(file, it) for it in re.findall(r"(?<![\w/.-])\w+\.(?:py|typ)\b", prose(file))]
    assert [path for path in paths if not path.exists()] == []
    assert [(file, name) for file, name in names if name not in known] == []
    assert len(paths) > 40 and len(names) > 50
