"""placeholder"""

from typing import NamedTuple


class Answer(NamedTuple):
    strategy: str


def answers(question):
    return []
