"""A deck as its readers have it: text, structure and pictures, with nothing of what builds it."""

from functools import cached_property
from io import BytesIO

import numpy as np
import pypdfium2
from pypdf import PdfReader

SCALE = 2  # pixels of a point


class Deck:
    """A PDF."""

    def __init__(self, pdf):
        self.pdf = pdf
        self.reader = PdfReader(BytesIO(pdf))

    @cached_property
    def texts(self):
        """Of each page, with single blanks."""
        return [
            " ".join(page.extract_text().split()).replace("\u00a0", " ")
            for page in self.reader.pages
        ]

    @cached_property
    def elements(self):
        """All (kind, element) of its structure in reading order."""
        return list(_elements(self.reader.trailer["/Root"]["/StructTreeRoot"]))

    @cached_property
    def alternatives(self):
        """The texts that stand for pictures and formulas, in reading order."""
        return [element["/Alt"] for _, element in self.elements if "/Alt" in element]

    def page(self, number):
        """One as a picture, counted from 1."""
        return Page(pypdfium2.PdfDocument(self.pdf)[number - 1])


def children(element):
    """The elements right below one."""
    kids = element.get("/K", [])
    kids = [kid.get_object() for kid in (kids if isinstance(kids, list) else [kids])]
    return [kid for kid in kids if isinstance(kid, dict) and "/S" in kid]


def _elements(element):
    for child in children(element):
        yield child["/S"], child
        yield from _elements(child)


class Page:
    """Its pixels, and where its words are, in points from the top left."""

    def __init__(self, page):
        self.page = page
        self.height = page.get_height()
        self.pixels = page.render(scale=SCALE, rev_byteorder=True).to_numpy()[..., :3]

    def box(self, words, number=1):
        """Left, top, right and bottom of words, where they stand for so many times."""
        textpage = self.page.get_textpage()
        search = textpage.search(words, match_case=True)
        for _ in range(number):
            found = search.get_next()
        boxes = [textpage.get_charbox(found[0] + place) for place in range(found[1])]
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        return min(lefts), self.height - max(tops), max(rights), self.height - min(bottoms)

    def colour(self, x, y):
        """Of a point: 0x0069A6."""
        red, green, blue = map(int, self.pixels[round(y * SCALE), round(x * SCALE)])
        return red << 16 | green << 8 | blue

    def text_colour(self, words, number=1):
        """The darkest within the words."""
        left, top, right, bottom = (round(SCALE * edge) for edge in self.box(words, number))
        pixels = self.pixels[top:bottom, left:right].reshape(-1, 3)
        red, green, blue = map(int, pixels[np.argmin(pixels.sum(axis=1))])
        return red << 16 | green << 8 | blue

    def bar(self, name, number=1):
        """Colour and length in points of the bar right of its name, over gaps of up to 3 points."""
        _, top, right, bottom = self.box(name, number)
        y = (top + bottom) / 2 - 6
        start = right + 9
        colour = self.colour(start, y)
        end = start
        for step in range(1, 1500):
            x = start + step / SCALE
            if self.colour(x, y) == colour:
                end = x
            elif x - end > 3:
                break
        return colour, end - right - 6
