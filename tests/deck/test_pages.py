"""What the deck says: each figure where it stands, worked out by hand."""

import re
from fractions import Fraction
from unicodedata import normalize

import pytest

import lab3
from machines import CLOSED_FORMS
from report.deck import build

# Each page's title, and the parts of it that have a number of three digits or more, or another one
# that is computed. test_lab3.py has the working of latency and traffic.
PARTS = {
    1: [
        "Tensor parallelism 0.00312726016 1,923,072 0.10007232512 61,538,304 32.0",
        "Pipeline parallelism 0.01243531264 604,160 0.15578613760 19,333,120 12.5",
        # 12.43531264 / 3.12726016 = 3.976..; 1,923,072 / 604,160; 155.7861376 / 100.07232512
        "pipeline 3.98 times as fast 3.18 times as many 1.56 times as fast 3.18 times as many",
        # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.8683..
        "pipeline nears 4.62 ms tensor stays at 3.13 ms lower bound: 3.03 ms (no node ever",
        "12.44 3.13 4.87 3.13",
        # 12.43531264 - 4.62422016 = 7.81109248
        "4.624+7.811/N ms per input; 7.811 ms is the first input's time outside node 2",
        "takes 3.127 ms per input, less than 4.624,",
    ],
    2: [
        "R=50,000 ops/us per node. B=2,000 bytes/us per link.",
        "32·12.43531=397.93 ms",
        "sending blocks computing (node 2: 0.10035 ms) 155.78614+31·0.10035=158.90 ms",
        "sending and receiving block computing 155.78614+31·(0.10035+0.11520)=162.47 ms",
        "32 inputs take even longer (tensor: 100.07 ms)",
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
        "C=2·128·3·3·3·30·30.",
        "231,211,008/50,000=4,624.22016 us, 231,211,008/606,661,632=38.1 %.",
        "each link sends A/4 in 57,600/2,000=28.800 us; 12 links send 12·57,600=691,200 bytes.",
    ],
    4: [
        # 100.07232512 / 97.06586112 = 1.0309..; 155.7861376 / 97.06586112 = 1.6049..
        "Tensor parallelism is 3 % above the lower bound, the pipeline 60 %",
        *("97.066 ms 32·606,661,632/(4·50,000) us", "3.006 ms 32·93.952 us", "97.066 ms"),
        "100.072 ms utilisation 97.066/100.072=97.0 %",
        # 50.909184 of 58.72027648 ms
        "50.909 ms 32·(4.62422-3.03331) ms, 87 % of the 58.720 ms lost",
        *("7.509 ms 12.13323-4.62422 ms", "0.302 ms once, of 32·302.080 us=9.667 ms"),
        "155.786 ms utilisation 97.066/155.786=62.3 %",
        *("from 0.0204 to 0.0926 GB/s", "ring: below 0.298 GB/s", "0.0204 0.0926 0.298 2 (lab)"),
        "from 101 inputs on, (12.435-3.033)/0.09395=100.07",
        *("decides: 230,400 bytes", "in tensor parallelism 187,904.", "100 200 500"),
        "Equal at 0.0204 GB/s: (604,160+31·230,400-32·187,904) bytes/(97.066-12.133) ms",
        "0.0926 GB/s: (32·187,904-604,160) bytes/(155.484-97.066) ms 187,904=751,616/4",
        "ring, 0.298 GB/s: (3·32·187,904-604,160) bytes/(155.484-97.066) ms",
        "155.484=12.13323+31·4.62422",
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
        *("exceed one SRAM by 367,360", "8·12.13323=97.066 ms"),  # 891,648 - 524,288
        "503,488+31·6,144=693,952 bytes; spread over the nodes: 503,488+31·6,144/4=551,104",
        "Both exceed 524,288",
        "503,488 bytes at most, during layer 2",
        *("32·147,456=4,718,592", "1,024 bytes"),
    ],
    6: [
        # 12 * (57,600 + 50,176 + 43,264), and 3 * 36,864 or, on a ring, 6 * 36,864 bytes
        "tensor, all-to-all 93.952 3,127.260 1,923,072 3.006 100.072",
        "tensor, ring 281.856 3,315.164 2,033,664 9.019 106.085",  # 3 * 93.952
        "ring/all-to-all 3.00 1.06 1.06 3.00 1.06",
        "pipeline, on either 302.080 12,435.313 604,160 0.302 155.786",
        *("(+110,592 bytes)", "1+2+3 links, not 3", "2·302.080=604.160 us longer"),
        *("3.315 < 4.624 ms per input", "(2 GB/s each way)"),
        "9.667 ms of sends, 0.302 ms are exposed",  # 32 * 302.080 us
        "281.856/2=140.928 us",  # 1.5 * 93.952
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
def test_a_page_has_no_figures_but_those_worked_out(pages, number):
    text = find_text(pages[number - 1])
    for part in PARTS[number]:
        assert part in text
        text = text.replace(part, "", 1)
    numbers = [it for it in re.findall(r"[\d.,]+", text) if len(re.findall(r"\d", it)) > 2]
    assert {*numbers} <= {"128", "100", "320", "0.01"}  # channels, and axes


# ------------------------------------------------ the formulas of page 2
# A[:-1] of lab3.py's docstrings is A_1 to A_3, S[-1] S_4, P * S A, and P > 1 1.
TYPESET = [
    "T = N sum_(l=1)^4 (C_l / (P R) + S_l / B)",
    "T = sum_(l=1)^4 C_l / R + sum_(l=1)^3 A_l / B"
    " + (N - 1) max_(l <= 4, k <= 3) (C_l / R, A_k / B)",
    "D = N (P - 1)(A_1 + A_2 + A_3 + S_4)",
    "D = N (A_1 + A_2 + A_3)",
]


def test_page_2_has_the_formulas_of_lab3s_docstrings(elements):
    docstrings = "\n".join(it.__doc__ for forms in CLOSED_FORMS.values() for it in forms)
    lines = re.findall(r"^ *(\w+ = .*?)(?: seconds| bytes)?$", docstrings, re.MULTILINE)
    alternatives = [it["/Alt"] for it in elements if it["/S"] == "/Formula"]
    assert {*lines} == {*"; ".join(alt for alt in alternatives if len(alt) > 1).split("; ")}
    slides = (build.HERE / "slides.typ").read_text(encoding="utf-8")
    assert re.findall(r"\$(\w = .+?)\$", slides) == TYPESET


# ------------------------------------------------ the verdicts of page 4
def find_lead(inputs, gbs=2, ring=1):
    """Find how much longer the pipeline takes; on a ring, each shard crosses its links in turn."""
    rates = (Fraction(rate) * 10**9 for rate in (Fraction(gbs) / ring, gbs))
    systems = [lab3.SYSTEM._replace(link_bytes_per_s=rate) for rate in rates]
    tensor_s = lab3.tensor_parallel_latency(lab3.NETWORK, systems[0], inputs)
    return lab3.pipeline_parallel_latency(lab3.NETWORK, systems[1], inputs) - tensor_s


def test_the_verdict_changes_where_page_4_says(pages, monkeypatch):
    """Each bandwidth is rounded to three digits: the next ones have the other sign."""
    text = find_text(pages[3])
    slow, fast = re.search(r"from (\S+) to (\S+) GB/s", text).groups()
    [ring] = re.findall(r"one-way ring: below (\S+) GB/s", text)
    step = Fraction(1, 10_000)
    assert find_lead(32, Fraction(slow) - step) > 0 > find_lead(32, Fraction(slow) + step)
    assert find_lead(32, Fraction(fast) - step) < 0 < find_lead(32, Fraction(fast) + step)
    step = Fraction(1, 1_000)
    assert find_lead(32, Fraction(ring) - step, 3) < 0 < find_lead(32, Fraction(ring) + step, 3)
    # and nowhere else
    for number in range(-40, 200):
        gbs = Fraction(5, 4) ** number / 1_000
        assert (find_lead(32, gbs) > 0) == (not Fraction(slow) < gbs < Fraction(fast))
        assert (find_lead(32, gbs, 3) > 0) == (gbs > Fraction(ring))
        assert find_lead(1, gbs) > 0 and find_lead(1, gbs, 3) > 0
    [inputs] = re.findall(r"from (\d+) inputs on", text)
    assert all(find_lead(number) > 0 for number in range(1, 1_000))
    ops = sum(layer.ops for layer in lab3.NETWORK)
    monkeypatch.setattr(lab3.ConvLayer, "ops", property(lambda _: Fraction(ops, 4)))
    assert find_lead(int(inputs) - 1) > 0 > find_lead(int(inputs))
