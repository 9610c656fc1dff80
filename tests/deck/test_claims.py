"""What the words claim is checked for any numbers: just inside a bound it holds, outside not."""

from fractions import Fraction

import pytest

import build
import facts
import lab3
from reading import Deck
from whatif import LAB

MB = 10**6


def false(question):
    """Pages and words of what does not hold."""
    return [(claim.page, claim.words) for claim in facts.claims(question) if not claim.holds]


def says(question, page, words):
    """Whether the claim of these words does not hold."""
    return any(at == page and words in said for at, said in false(question))


def test_all_claims_hold_for_the_lab():
    claims = facts.claims(LAB)
    assert {claim.page for claim in claims} == {1, 2, 3, 4, 5, 6}
    assert false(LAB) == []


@pytest.mark.parametrize(
    ("question", "page", "words"),
    [
        (LAB._replace(inputs=1), 1, "two inputs"),
        (LAB._replace(network=lab3.NETWORK[:3]), 2, "four layers"),
        (LAB.on(nodes=8), 2, "four nodes"),
        (LAB.on(topology="ring"), 2, "all-to-all"),
        (LAB.on(nodes=3), 2, "both strategies"),
    ],
)
def test_another_shape_is_said_and_nothing_else_is_tried(question, page, words):
    assert says(question, page, words)
    assert len(facts.claims(question)) < 6


def with_filters(*counts):
    """The lab with layers of so many filters."""
    before = [lab3.NETWORK[0].in_channels, *counts]
    layers = zip(lab3.NETWORK, counts, before[:-1], strict=True)
    return LAB._replace(network=[a._replace(filters=b, in_channels=c) for a, b, c in layers])


@pytest.mark.parametrize(
    ("inside", "outside", "page", "words"),
    [
        # tensor parallelism's need, and the pipeline's
        (LAB.on(sram_bytes=503_488), LAB.on(sram_bytes=503_487), 1, "whole tensors fit"),
        (LAB.on(sram_bytes=726_015), LAB.on(sram_bytes=726_016), 1, "whole tensors fit"),
        (LAB.on(sram_bytes=503_488), LAB.on(sram_bytes=503_487), 4, "only tensor"),
        (LAB.on(sram_bytes=582_143), LAB.on(sram_bytes=582_144), 4, "only tensor"),
        (LAB.on(sram_bytes=891_647), LAB.on(sram_bytes=891_648), 5, "all weights"),
        (LAB.on(sram_bytes=615_423), LAB.on(sram_bytes=615_424), 5, "nodes 2, 3 and 4"),
        (LAB.on(sram_bytes=525_311), LAB.on(sram_bytes=525_312), 5, "before it has any output"),
        (LAB.on(sram_bytes=462_336), LAB.on(sram_bytes=462_335), 5, "rows streamed fit"),
        (LAB.on(sram_bytes=363_008), LAB.on(sram_bytes=363_007), 6, "twice the SRAM"),
        # 14 outputs are 2,064,384 bytes, 15 are 2,211,840; all nodes hold 2,097,152
        (LAB._replace(inputs=15), LAB._replace(inputs=14), 5, "all outputs"),
        # 11 wait beside tensor parallelism's rows; 48 beside the first node's 243,456, not 47
        (LAB._replace(inputs=13), LAB._replace(inputs=12), 5, "not all inputs can wait"),
        (LAB._replace(inputs=46), LAB._replace(inputs=47), 5, "pipeline's first node"),
        (LAB._replace(inputs=10), LAB._replace(inputs=9), 6, "some slower links"),
        # 27 ops a byte in layer 1: R / B must be less
        (
            LAB.on(link_bytes_per_s=Fraction(50 * 10**9, 27) + 1),
            LAB.on(link_bytes_per_s=Fraction(50 * 10**9, 27)),
            2,
            "longer than",
        ),
        # 660.77 MB/s, where a balanced pipeline is as fast; 92.587 MB/s, where the real one is
        (LAB.on(link_bytes_per_s=661 * MB), LAB.on(link_bytes_per_s=660 * MB), 4, "bars grow"),
        (LAB.on(link_bytes_per_s=93 * MB), LAB.on(link_bytes_per_s=92 * MB), 6, "some slower"),
        # 32 * 563,712 - 604,160 bytes in 58.41819648 ms are 298.445 MB/s
        (LAB.on(link_bytes_per_s=299 * MB), LAB.on(link_bytes_per_s=298 * MB), 6, "all slow"),
        # 31 inputs take data parallelism as long as 32
        (LAB._replace(inputs=32), LAB._replace(inputs=31), 5, "data parallelism"),
        # 49.8246 MB/s, where a send of the first output takes as long as node 2
        (LAB.on(link_bytes_per_s=50 * MB), LAB.on(link_bytes_per_s=49 * MB), 3, "node 2 alone"),
        (LAB.on(link_bytes_per_s=50 * MB), LAB.on(link_bytes_per_s=49 * MB), 3, "just in time"),
        # 96 filters can be shared by three nodes; half of layer 1's make layer 3 the fullest
        (LAB, with_filters(96, 96, 96, 96), 4, "1, 2 or 4 nodes"),
        (LAB, with_filters(64, 128, 128, 128), 5, "fullest in layer 2"),
        (LAB, with_filters(64, 128, 128, 128), 5, "with rows streamed, too"),
        (LAB, with_filters(128, 128, 128, 32), 5, "node 4 needs most"),
        # 92 filters: node 4 needs 337,920 bytes, node 2 325,120 and a row of 7,680; 88: 324,096
        (with_filters(128, 128, 128, 92), with_filters(128, 128, 128, 88), 5, "nodes 2 and 3 have"),
        (LAB, LAB.on(ops_per_s=3 * 10**9 + 1), 1, "exact with 11 decimals"),
    ],
)
def test_bounds_of_claims(inside, outside, page, words):
    assert not says(inside, page, words)
    assert says(outside, page, words)


def test_a_false_claim_is_refused_with_all_others_and_their_pages(monkeypatch):
    monkeypatch.setattr(build.whatif, "LAB", LAB.on(sram_bytes=1024 * 1024))
    with pytest.raises(ValueError, match="does not hold") as raised:
        build.build(dict.fromkeys(build.BYLINE, ""))
    lines = str(raised.value).splitlines()[1:]
    assert len(lines) >= 4
    assert {line.split(":")[0].strip() for line in lines} >= {"page 1", "page 4", "page 5"}


def test_other_numbers_are_told_throughout_and_what_was_measured_is_left_out(monkeypatch):
    """36 inputs take 112.58136576 or 174.28301824 ms, or 36 * 3.03330816 = 109.19909376."""
    monkeypatch.setattr(build.whatif, "LAB", LAB._replace(inputs=36))
    deck = Deck(build.build(dict.fromkeys(build.BYLINE, ""))["slides.pdf"])
    assert "36 inputs take 112.58 ms, not 174.28 ms" in deck.texts[0]
    assert "no schedule is faster than 109.20 ms" in deck.texts[3]
    assert not any("32 inputs" in text for text in [*deck.texts, *deck.alternatives])
    assert "ASTRA-sim" not in deck.texts[5]
    assert "An event simulation" in deck.texts[5]
