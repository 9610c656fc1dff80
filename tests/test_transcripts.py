"""tests/transcripts: what somebody types and sees, compared in every line.

The first line of a transcript says in a sentence what it shows. Its commands run one after the
other in a copy of lab3.py and report/, where they may write files and edit lab3.py.
"""

import pytest

from program import CHECKOUT, copy_project, play, read_sessions

TRANSCRIPTS = sorted((CHECKOUT / "tests" / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_shows_what_comes_out(transcript, tmp_path, pytestconfig):
    copy_project(tmp_path)
    title, sessions = transcript.read_text(encoding="utf-8").split("\n\n", 1)
    assert title.endswith(".") and "\n" not in title and sessions.startswith("$ ")
    played = f"{title}\n\n"
    for command, _ in read_sessions(sessions):
        played += f"$ {command}\n{play(command, tmp_path)}"
    if pytestconfig.getoption("update"):
        transcript.write_text(played, encoding="utf-8")
    assert transcript.read_text(encoding="utf-8") == played
