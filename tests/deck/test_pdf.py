# ruff: noqa: RUF001 (the sign of multiplication is meant)
"""What the committed deck says, each number beside its label; it is what the build makes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

import build
import lab3

REPORT = Path(build.__file__).parent
OUTPUTS = ("slides.pdf", "results.png")
READER = PdfReader(REPORT / "slides.pdf")
PAGES = [" ".join(page.extract_text().split()) for page in READER.pages]


def test_committed_files_are_what_the_build_makes(tmp_path):
    """In another folder and time zone, without git, without the files of the last build."""
    ignored = shutil.ignore_patterns("__pycache__", *OUTPUTS)
    shutil.copytree(REPORT, tmp_path / "report", ignore=ignored)
    shutil.copy(lab3.__file__, tmp_path)
    result = subprocess.run(
        [sys.executable, tmp_path / "report" / "build.py"],
        env={**os.environ, "TZ": "Pacific/Auckland", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "86400"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    for name in OUTPUTS:
        assert (tmp_path / "report" / name).read_bytes() == (REPORT / name).read_bytes(), name


def test_six_pages_of_16_to_9():
    assert len(READER.pages) == 6
    for page in READER.pages:
        assert float(page.mediabox.width / page.mediabox.height) == pytest.approx(16 / 9, rel=1e-3)


def test_few_words_on_a_page():
    for number, page in enumerate(PAGES, 1):
        assert len(re.findall(r"[^\W\d_]{2,}", page)) <= 175, number


def alternatives(element):
    """The alternative texts under an element of the document's structure, in reading order."""
    found = [element["/Alt"]] if "/Alt" in element else []
    children = element.get("/K", [])
    for child in children if isinstance(children, list) else [children]:
        part = child.get_object() if hasattr(child, "get_object") else child
        if isinstance(part, dict):
            found += alternatives(part)
    return found


def test_it_is_accessible():
    root = READER.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    shown = [  # on page after page
        "Latency per input: pipeline, whole tensors 12.44 ms for 1 and 4.87 ms for 32 inputs",
        "T equals the sum of all steps t, plus N minus 1 times the longest stage.",
        "P minus 1, times the sum of A 1, A 2, A 3 and A 4 divided by P.",
        "A 1 plus A 2 plus A 3.",
        "4 nodes joined by one-way links both ways between all pairs.",
        "One input, step by step: compute of layer 1 31.1 µs, all-gather of layer 1 28.8 µs",
        "8 inputs, one after the other, the last output at 25.02 ms; the pipeline's 4 inputs",
        "4 inputs pass nodes 1 to 4 one behind the other; outputs at 12.44, 17.06, 21.68, 26.31",
        "The latency's parts: work ÷ 4 nodes 97.07 ms, imbalance 50.91 ms, fill and drain 7.51 ms",
        "Bytes that a node must hold, of 524,288: tensor, each node: 503,488; pipeline, node 1",
        "Latency against traffic of 28 plans for 32 inputs. No plan beats these in both: 1-4:4;",
        "4 nodes joined by a ring of one-way links.",
        "MB/s of a link at which a pipeline is faster: whole tensors, 9 inputs or fewer: never;",
    ]
    texts = alternatives(root["/StructTreeRoot"])
    assert [text[: len(start)] for text, start in zip(texts, shown, strict=True)] == shown


def test_the_readme_describes_the_picture():
    """Its figures stand on the first page, in the same order: tensor, whole tensors, streamed."""
    readme = (REPORT.parent / "README.md").read_text(encoding="utf-8")
    described = re.search(r"!\[([^]]*)\]\(report/results\.png\)", readme)[1]
    q1, q2, need = r"0\.0\d+", r"0\.1\d+", r"\d{3},\d{3}(?= bytes a| bytes, too)"
    for figures, first in ((q1, "0.00312726016"), (q2, "0.10007232512"), (need, "503,488")):
        found = re.findall(figures, described)
        assert found[0] == first
        places = [PAGES[0].index(figure) for figure in found]
        assert len(places) >= 2
        assert places == sorted(places)


def test_no_name_is_invented():
    assert READER.metadata.author is None
    assert all("Lab 3: distributed CNN inference " in page for page in PAGES)


ROWS = [  # of the tables, cell after cell
    (1, "Q1: 1 input Q2: 32 inputs SRAM of a node: 524,288"),
    (1, "latency, s traffic, bytes latency, s traffic, bytes need, bytes"),
    (1, "Tensor parallelism 0.00312726016 1,923,072 0.10007232512 61,538,304 503,488 fits"),
    (1, "whole tensors 0.01243531264 604,160 0.15578613760 19,333,120 726,016 too much"),
    (1, "rows streamed 0.00494232576 604,160 0.14829315072 19,333,120 462,336 fits"),
    (2, "layer weights output weight bytes ops C output bytes A C ÷ A 1 128 × 3 × 3 × 3"),
    (2, "2 128 × 128 × 3 × 3 128 × 28 × 28 294,912 231,211,008 200,704 1,152"),
    (2, "all 891,648 606,661,632"),
    (
        2,
        "32 inputs: speed-up from twice the tensor pipeline ops/s of a node 1.942 1.996",
    ),
    (2, "bytes/s of a link 1.015 1.001 nodes 2.000 1.000"),
    (2, "as read here 100.072 155.786 the pipeline takes one at a time 397.930 1 GB is"),
    (2, "2³⁰ bytes 99.866 155.765 links carry 2 Gbit/s 121.118 157.901 inputs start"),
    (2, "links carry 2 Gbit/s 121.118 157.901 inputs start on node 1 alone 100.171 no node"),
    (2, "sends while it computes 158.897 … nor receives 162.468"),
    (3, "layer compute, µs then time, µs shard, bytes traffic, bytes 1 31.10400"),
    (3, "2 1,156.05504 all-gather 25.08800 50,176 602,112"),
    (3, "4 849.34656 gather 18.43200 36,864 110,592 all 3,033.30816 93.95200 1,923,072"),
    (4, "stage node 1 send 1 → 2 node 2 send 2 → 3 node 3 send 3 → 4 node 4 sum"),
    (
        4,
        "µs 124.41600 115.20000 4,624.22016 100.35200 3,987.21024 86.52800 3,397.38624",
    ),
    (
        4,
        "3,397.38624 12,435.31264 bytes 230,400 200,704 173,056 604,160",
    ),
    (6, "tensor pipeline 1 input all-to-all one-way ring either"),
    (6, "communication, µs 93.95200 281.85600 302.08000"),
    (6, "latency, µs 3,127.26016 3,315.16416 12,435.31264"),
    (6, "traffic, bytes 1,923,072 2,033,664 604,160"),
]


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_rows_of_tables(page, row):
    assert row in PAGES[page - 1]


# In a sentence a word that says what is meant, and the numbers that must follow it, with nothing
# but words without digits between.
SENTENCES = [
    (1, "split every layer", ["3.98×", "1", "1.56×", "32", "1.58×", "1.48×"]),
    (1, "It sends", ["3.18×", "3 %"]),
    (2, "Computing decides", ["1,152", "25"]),
    (2, "R ÷ B", ["25"]),
    (2, "Layer", ["1", "27", "1,152"]),
    (2, "Not modelled:", ["93.952 µs", "3.0 %"]),
    (3, "computing", ["97 %"]),
    (
        3,
        "All nodes wait",
        ["32", "3,033.30816", "93.952", "100,072.32512", "32", "1,923,072", "61,538,304"],
    ),
    (3, "The all-gathers", ["3", "110,592", "3", "110,592", "604,160", "3.18"]),
    (4, "Node", ["2"]),
    (
        4,
        "32 inputs take",
        ["12,435.31264", "31", "4,624.22016", "155,786.13760", "32", "604,160", "19,333,120"],
    ),
    (4, "Utilisation", ["24.4 %", "1", "62.3 %", "32", "65.6 %"]),
    (4, "Equal stages without sending", ["35", "1", "3.033", "106.17"]),
    (4, "Imbalance:", ["2", "3.033 ms"]),
    (4, "For 1 input the pipeline", ["0.98×", "302.08 µs"]),
    (5, "Why distribute", ["891,648", "524,288"]),
    (5, "Data parallelism?", ["367,360", "32", "97.07", "3 %"]),
    (5, "The pipeline?", ["2", "1,024", "462,336", "32", "524,288", "2"]),
    (5, "less time;", ["1-3:2,4"]),
    (5, "plan, of", ["28", "1", "2", "4"]),
    (6, "communication time", ["6 %"]),
    (6, "Tensor:", ["3", "3", "0", "1", "2", "3", "221,184"]),
    (6, "On a two-way ring", ["2", "10⁹", "140.928"]),
    (6, "Links of", ["15", "116", "32"]),
    (6, "outputs go one by one", ["32", "4,718,592", "2,097,152"]),
]


@pytest.mark.parametrize(("page", "words", "numbers"), SENTENCES)
def test_numbers_of_sentences(page, words, numbers):
    between = r"(?:(?![0-9]).)*?"
    pattern = re.escape(words) + "".join(
        between + re.escape(number) + r"(?![0-9,.]*[0-9])" for number in numbers
    )
    text = PAGES[page - 1].replace("\u00a0", " ")
    assert len(re.findall(f"(?={pattern})", text)) == 1


PLANS = [
    "tensor, 1-4:4 100.07",
    "pipeline, 1,2,3,4 155.79",
    "1-3:2,4 146.66",
    "1-2:2,3,4 133.56",
    "3 and 4 on one each, sends the pipeline’s bytes in 14 % less",
]


@pytest.mark.parametrize("text", PLANS)
def test_plans(text):
    assert text in PAGES[4].replace("\u00a0", " ")
