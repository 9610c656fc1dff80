"""The `whatif` command: lab3.py's answers to Q1 and Q2, and which strategies fit in SRAM."""

from argparse import Namespace
from functools import lru_cache

import lab3
from report.options import add_question_options, read_options
from report.question import Question, format_option, list_possible, prefix_question
from report.sram import fits
from report.text import KIB, wrap

add_options = add_question_options  # and no others


@lru_cache(maxsize=8)  # check asks for each file of a class
def answer(question: Question) -> str:
    """Return lab3.py's answers, and what fits in SRAM. Raises find_impossible's InputErrors."""
    fitting = [name for name in list_possible(question) if fits(question, name)]
    names = " and ".join(f"{name} parallelism" for name in fitting)
    kib = format_option(question.system.sram_bytes, KIB)
    line = f"Fits in {kib} KiB of SRAM per node, one input at a time: {names or 'none'}."
    return f"{lab3.answers(*question)}\n{wrap(line, '  ')}"  # lab3.py's lines as they are


def run(options: Namespace) -> int:
    """Print the answers."""
    question = read_options(options)
    print(prefix_question(question, answer(question), "\n"))
    return 0
