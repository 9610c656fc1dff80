"""What the deck says: each figure where it stands, worked out by hand."""

import re
from unicodedata import normalize

import pytest

from machines import CLOSED_FORMS
from report.deck import build
from report.deck.verdict import ON_RING, draw_verdict
from report.question import LAB

# Each page's title, and the parts of it that have a number of three digits or more, or another one
# that is computed. test_lab3.py has the working of latency and traffic.
PARTS = {
    1: [
        # 100.07232512 / 3.12726016 = 32; 155.7861376 / 12.43531264 = 12.52..
        "Tensor parallelism 0.00312726016 1,923,072 0.10007232512 61,538,304 32.0",
        "Pipeline parallelism 0.01243531264 604,160 0.1557861376 19,333,120 12.5",
        # 12.43531264 / 3.12726016 = 3.976..; 1,923,072 / 604,160; 155.7861376 / 100.07232512
        "3.98 times as fast 3.18 times as many 1.56 times as fast 3.18 times as many",
        # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.8683..
        "pipeline nears 4.62 ms tensor stays at 3.13 ms lower bound: 3.03 ms",
        "all nodes always compute 12.44 3.13 4.87 3.13",
        # 12.43531264 - 4.62422016 = 7.81109248; 231,211,008 / 606,661,632 = 0.3811..
        *("4.624+7.811/N ms per input", "38 % of the operations", "3.13 < 4.62 ms"),
    ],
    2: [
        "R=50 GOPS=50,000 ops/us. B=2 GB/s=2,000 bytes/us.",
        "else 3·6,144=18,432 bytes, 3.07 us more per input",  # 6,144 / 2,000 = 3.072
        "else 32·12.43531=397.93 ms",
        "else 155.78614+31·(0.11520+0.10035)=162.47 ms; if only sending blocks, 158.90 ms",
    ],
    3: [
        "The pipeline waits for node 2: it has 38 % of the operations, not 25 %",
        *("an output every 3.13 ms", "an output after 12.44 ms, then one every 4.62 ms"),
        # operations 2 * 128 * channels * 3 * 3 * x * y; bytes 2 * 128 * x * y; operations / 200,000
        # us, shards / 2,000 us, 12 shards or 3; operations / 50,000 us, outputs / 2,000 us
        "1: 128x30x30 6,220,800 230,400 31.10400 28.800 691,200 124.41600 115.200 230,400",
        "2: 128x28x28 231,211,008 200,704 1,156.05504 25.088 602,112 4,624.22016 100.352 200,704",
        "3: 128x26x26 199,360,512 173,056 996.80256 21.632 519,168 3,987.21024 86.528 173,056",
        "4: 128x24x24 169,869,312 147,456 849.34656 18.432 110,592 3,397.38624 stays",
        "sum 606,661,632 751,616 3,033.30816 93.952 1,923,072 12,133.23264 302.080 604,160",
        "1 input, us 3,033.30816+93.952=3,127.26016 12,133.23264+302.080=12,435.31264",
        "us 32·3,127.26016=100,072.32512 12,435.31264+31·4,624.22016=155,786.13760",
        "32 inputs, bytes 32·1,923,072=61,538,304 32·604,160=19,333,120",
        "Layer 1: C=2·128·3·3·3·30·30 ops, A=2·128·30·30, S=A/4=57,600, 12·S=691,200 bytes.",
        "C/(4R)=31.104, S/B=57,600/2,000=28.8, C/R=124.416, A/B=115.2 us.",
        "Node 2: 231,211,008/606,661,632=38 %",
    ],
    4: [
        # 100.07232512 / 97.06586112 = 1.0309..; 155.7861376 / 97.06586112 = 1.6049..
        "Tensor parallelism is 3 % above the lower bound, the pipeline 60 %",
        "97.066 ms 32·606,661,632/(4·50,000) us",
        "97.066 ms",
        "3.006 ms 32·93.952 us, on up to 12 links",
        "100.072 ms 100.072/97.066=103 %; inverse (utilisation): 97.0 %",
        "155.786 ms 155.786/97.066=160 %; inverse (utilisation): 62.3 %",
        "50.909 ms 32·(4,624.22016-3,033.30816) us, 87 % of the 58.720 ms lost",
        *("7.509 ms 12,133.23264-4,624.22016 us", "0.302 ms 302.080 us"),
        # 97,065.86112 us + 6,012,928 bytes / B, times 3 on a ring; 155,484.0576 us + 604,160 bytes
        # / B, or 12,133.23264 us + 7,746,560 bytes / B if a send is the bottleneck
        "0.0204 0.0926 0.298 2 (lab) 100 200 500",
        "From 0.0204 to 0.0926 GB/s, the pipeline wins",
        # 57,600 + 50,176 + 43,264 + 36,864, and output 1
        "per input, tensor parallelism's carries 751,616/4=187,904 bytes, the pipeline's 230,400.",
        "max(3,033, 187,904/B) < max(4,624, 230,400/B) us per input",
        "0.0204 GB/s: (604,160+31·230,400-32·187,904)/(97,066-12,133)=20.4 bytes/us",
        "0.0926 GB/s: (32·187,904-604,160)/(155,484-97,066)=92.6 bytes/us",
        *("155,484=12,133+31·4,624.22", "0.298 GB/s: (3·32·187,904-604,160)/(155,484-97,066)=298"),
    ],
    5: [
        # a quarter of all weights, 891,648 / 4, layer 2's input, a quarter of its output
        "SRAM: 512·1,024=524,288 tensor, every node 222,912 230,400 50,176 503,488 20,800 free",
        "input not dropped 222,912 230,400 200,704 654,016 129,728 over",
        "pipeline, node 1 6,912 6,144 230,400 243,456 280,832 free",
        "pipeline, node 2 294,912 230,400 200,704 726,016 201,728 over",
        "output streamed 294,912 230,400 0 525,312 1,024 over",
        "pipeline, node 3 294,912 200,704 173,056 668,672 144,384 over",
        "pipeline, node 4 294,912 173,056 147,456 615,424 91,136 over",
        "data, every node 891,648 230,400 200,704 1,322,752 798,464 over",
        "weights, 6,912+3·294,912=891,648 bytes",
        *("exceed one SRAM by 367,360", "8·12,133.23264 us=97.066 ms"),  # 891,648 - 524,288
        "needs 503,488+31·6,144=693,952 bytes; if they are spread over all nodes,"
        " 503,488+31·6,144/4=551,104. Outputs must leave: 32·147,456 bytes exceed 4·524,288.",
        "node 2 has 726,016+230,400=956,416.",
    ],
    6: [
        # 12 * (57,600 + 50,176 + 43,264), and 3 * 36,864 or, on a ring, 6 * 36,864 bytes
        "tensor, all-to-all 93.952 3,127.260 1,923,072 3.006 100.072",
        "tensor, ring 281.856 3,315.164 2,033,664 9.019 106.085",  # 3 * 93.952
        # 3,315.16.. / 3,127.26..; 2,033,664 / 1,923,072; a pipeline communicates once
        "ring/all-to-all 3.00 1.06 1.06 3.00 1.06",
        "pipeline, on either 302.080 12,435.313 604,160 0.302 155.786",
        "All-gathers: 1,812,480 bytes on either. The gather's bytes double from 110,592:",
        # 604.160 / 12,435.31264; 604.160 / 155,786.1376
        "2·302.080 us more latency, 4.9 % for 1 input, 0.4 % for 32",
        *("3.315 < 4.624 ms per input", "281.856/2=140.928 us"),  # 1.5 * 93.952
    ],
}


def find_text(page):
    """Find a page's text without its foot, in letters and signs that a keyboard has."""
    text, foot, _ = page.get_textpage().get_text_range().partition("Lab 3: distributed")
    assert foot
    signs = "\N{GREEK SMALL LETTER MU}\N{MULTIPLICATION SIGN}\N{MINUS SIGN}\u2019"
    text = normalize("NFKC", text).translate(str.maketrans(signs, "ux-'"))
    return re.sub(r" ?([=·/+-]) ?", r"\1", " ".join(text.replace(" :", ":").split()))


@pytest.mark.parametrize("number", PARTS)
def test_a_page_has_no_figures_but_those_worked_out_and_few_words(pages, reader, number):
    text = find_text(pages[number - 1])
    for part in PARTS[number]:
        assert part in text
        text = text.replace(part, "", 1)
    numbers = [it for it in re.findall(r"[\d.,]+", text) if len(re.findall(r"\d", it)) > 2]
    assert {*numbers} <= {"128", "100", "320"}  # channels, and an axis
    assert len(reader.pages[number - 1].extract_text().split()) <= (260 if number == 2 else 230)


# ------------------------------------------------ the formulas of page 2

# lab3.py's lines, and how they are set: A[:-1] is A_1 to A_3, S[-1] S_4, P * S A, and P > 1 1.
TYPESET = {
    "latency = N * one_input; one_input = sum(compute) + sum(transfer); compute = C / (P * R);"
    " transfer = (P > 1) * S / B": "T = N sum_(l=1)^4 (C_l / (P R) + S_l / B)",
    "latency = one_input + (N - 1) * interval; one_input = sum(compute) + sum(transfer);"
    " interval = max(compute, transfer); compute = C / R; transfer = A[:-1] / B": (
        "T = sum_(l=1)^4 C_l / R + sum_(l=1)^3 A_l / B"
        r" + (N minus 1) max_(l <= 4 \ k <= 3) (C_l / R, A_k / B)"
    ),
    "traffic = N * (sum(all_gathers) + gather); all_gathers = P * (P - 1) * S[:-1];"
    " gather = (P - 1) * S[-1]": "D = N (P minus 1)(A_1 + A_2 + A_3 + S_4)",
    "traffic = N * sum(sent); sent = A[:-1]": "D = N (A_1 + A_2 + A_3)",
}


def test_page_2_has_the_formulas_of_lab3s_docstrings(elements):
    docstrings = "\n".join(it.__doc__ for forms in CLOSED_FORMS.values() for it in forms)
    lines = re.findall(r"^ *(\w+ = .*?)(?: seconds| bytes)?$", docstrings, re.MULTILINE)
    assert {*lines} == {line for key in TYPESET for line in key.split("; ")}
    slides = (build.HERE / "slides.typ").read_text(encoding="utf-8")
    assert re.findall(r"formula\(.*\$(\w = .+?)\$", slides) == [*TYPESET.values()]
    alternatives = [it["/Alt"] for it in elements if it["/S"] == "/Formula"]
    assert [alt for alt in alternatives if len(alt) > 1] == [*TYPESET]


# ------------------------------------------------ the chart
def test_the_chart_of_the_verdict_is_where_its_milliseconds_say(elements):
    figure, alt = draw_verdict(LAB)
    assert alt in [element.get("/Alt") for element in elements]
    assert "faster from 0.0204 to 0.0926, on a one-way ring below 0.298; else tensor" in alt
    curves, marks = figure.axes[0].lines[:3], figure.axes[0].lines[3:]
    shown = [(it.get_label(), it.get_linestyle(), it.get_color()) for it in curves]
    blue, orange = "#003A70", "#C25700"
    assert shown == [("tensor", "-", blue), (ON_RING, "--", blue), ("pipeline", "-", orange)]
    # 6,012,928 bytes or three times as many; 7,746,560 on the busiest link, 604,160 at 4 GB/s
    slowest = 97.06586112 + 601.2928, 97.06586112 + 3 * 601.2928, 12.13323264 + 774.656
    fastest = 97.06586112 + 1.503232, 97.06586112 + 3 * 1.503232, 155.4840576 + 0.15104
    assert [it.get_ydata()[0] for it in curves] == pytest.approx(slowest)
    assert [it.get_ydata()[-1] for it in curves] == pytest.approx(fastest)
    # crossings in GB/s as above, and a circle at the lab's, which is none
    places = [0.0204118491, 0.0925870418, 0.298445092, 2]
    assert [mark.get_xdata()[1] for mark in marks] == pytest.approx(places)
    heights = [12.13323264 + 7.74656 / places[0], *(155.4840576 + 0.60416 / x for x in places[1:])]
    assert [mark.get_ydata()[1] for mark in marks] == pytest.approx(heights)
    assert [mark.get_markerfacecolor() == "white" for mark in marks] == [False, False, False, True]
    [area] = figure.axes[0].patches
    assert [area.get_x(), area.get_x() + area.get_width()] == pytest.approx(places[:2])
    with pytest.raises(ValueError, match="flips twice all-to-all and once"):
        draw_verdict(LAB._replace(inputs=1))
