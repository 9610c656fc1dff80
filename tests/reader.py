"""Reads what is printed for people and compares it with the JSON of the same question.

It knows no sentence. A table is read by its heads, which are names of the JSON in words, but for a
last column of prose; each row must be one record of it. In sentences each number that has a unit
must be one of the question's numbers, whole or rounded once. What does not agree is an
AssertionError that begins with the heading above it and the row or sentence.
"""

import re
from bisect import bisect_left, bisect_right
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import chain, permutations
from math import isclose, prod
from typing import NamedTuple

__tracebackhide__ = True  # pytest shows what does not agree, not how it was found
GIGA = Fraction(1, 10**9)
FACTORS = {"ms": 1000, "us": 10**6, "ns": 10**9, "%": 100}  # of units: how many are one in the JSON
FACTORS |= {"MB/s": 1000 * GIGA, "GB/s": GIGA, "GOPS": GIGA}
HEADS = {  # what a column is called, and its name in the JSON if that is not the same in words
    "strategy": "name",
    "step": "work",
    "ops of a node": "node_ops",
    "bytes of a link": "link_bytes",
    "idle": "idle_nodes",
    "ms": "part_s",
    "%": "share",
    "#": "rank",
    "plan": "text",
}
PROSE = ("what it is", "a node holds")  # heads of words that are not in the JSON
NAMED = ("strategies", "sram", "compared", "faster")  # dictionaries from names to records


DIGITS = (4, 5, 9, 10, 11, 12, 17, 30)


def matches(text, value, factor=1, digits=DIGITS):
    """Whether the text is this value in a unit of which so many are one."""
    if value is None:
        return text == "-"
    if isinstance(value, bool):
        return text == {True: "yes", False: "NO"}[value]
    if isinstance(value, str):  # a line may have been broken after a comma, or between words
        return text.replace(" ", "") == value.replace(" ", "")
    if not re.fullmatch(r"-?[\d,]+(\.\d+)?(e[+-]\d+)?", text):
        return False
    printed, value = Fraction(text.replace(",", "")), value * factor
    if isinstance(value, int):
        return printed == value
    return printed == value or any(printed == Fraction(_rounded(value, each)) for each in digits)


def _rounded(value, digits):
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


# ------------------------------------------------ the JSON, as flat records


def records(data):
    """Every object of the JSON with what stands around it."""
    return chain(_records(data, {}), _bounds(data), _losses(data), _readings(data))


def _records(value, around, key=""):
    if isinstance(value, list):
        for rank, each in enumerate(value, 1):
            yield from _records(each, {**around, "rank": rank if key != "fitting" else None})
    elif isinstance(value, dict):
        flat = {**around, **_flat(value), **value.get("fullest", {})}
        yield flat
        for name, each in value.items():
            if name not in ("streamed", "uses"):
                printed = name.replace(", streamed", ", row streaming")
                yield from _records(each, {**flat, "name": printed} if key in NAMED else flat, name)


def _bounds(data):
    """The rows of the page's table."""
    by = {each["inputs"]: each["latency_s"] for each in data.get("lower_bound", [])}
    bound = {_head(inputs): latency_s for inputs, latency_s in by.items()}
    yield {"latency": "lower bound for any schedule", **bound}
    for name, strategy in data.get("strategies", {}).items():
        streamed = {
            _head(each["inputs"]): each["streamed"].get("latency_s")
            for each in strategy.get("results", [])
            if each["topology"] == data["asked"]["system"]["topology"]
        }
        yield {"latency": f"{name} parallelism, row streaming", **streamed}


def _head(inputs):
    return f"{inputs:,}_input{'s' * (inputs > 1)}_s"


def _flat(value):
    flat = {name: each for name, each in value.items() if not isinstance(each, (dict, list))}
    if streamed := value.get("streamed"):
        flat["streamed_latency_s"] = None
        flat |= {f"streamed_{name}": each for name, each in streamed.items()}
    return flat


def _losses(data):
    losses = data.get("losses", {"reason": ""})
    for name, part_s in losses.items():
        if name != "reason":
            part = name.removesuffix("_s").replace("_", " ")
            yield {"part": part, "part_s": part_s, "share": part_s / sum(losses.values())}


def _readings(data):
    by_reading = {}
    for it in data.get("readings", []):
        key = it["strategy"], ", ".join(it["changes"]) or "as read here"
        by_reading.setdefault(key, {})[it["inputs"]] = it
    for (strategy, reading), by in by_reading.items():
        times_s = {_head(inputs): it["latency_s"] for inputs, it in by.items()}
        sent = by[data["asked"]["inputs"]]["traffic_bytes"]
        yield {"name": strategy, "reading": reading, "bytes": sent, **times_s}


# ------------------------------------------------ tables


class Table(NamedTuple):
    """What stands below a heading that may name a strategy."""

    heading: str
    strategy: str
    heads: list
    rows: list


class Paragraph(NamedTuple):
    """Sentences below a heading."""

    heading: str
    text: str


def split(text, names):
    """Tables and paragraphs; heads of tables are names."""
    parts, heading, in_blocks = [], "", False
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if re.fullmatch(r"Q\d: .+|[A-Z][A-Z0-9 ,()-]+", lines[0]):
            heading, *lines = lines
        if not lines:
            continue
        named = re.match("(TENSOR|PIPELINE) PARALLELISM", heading)
        strategy = named[1].lower() if named else ""
        heads, *rows = _columns(lines)
        record = _pairs(lines)
        if len(record) > 1 and {*map(_name, record)} <= names:  # a row that is a block of lines
            if not (in_blocks and parts[-1].heading == heading and {*record} <= {*parts[-1].heads}):
                parts.append(Table(heading, strategy, [*record], []))
            parts[-1].rows.append([record.get(head, "") for head in parts[-1].heads])
            in_blocks = True
            continue
        if len(heads) > 1 and {_name(head) for head in heads if head not in PROSE} <= names:
            parts.append(Table(heading, strategy, heads, rows))
        else:
            parts.append(Paragraph(heading, " ".join(line.strip() for line in lines)))
        in_blocks = False
    return parts


def _pairs(lines):
    """Heads and cells of a row that is a block of lines."""
    pairs = []
    for line in lines:
        head, _, value = line.partition("  ")
        if head:
            pairs.append([head, value.strip()])
        elif pairs:  # the last cell goes on
            pairs[-1][1] += f" {value.strip()}"
    return {head: value for head, value in pairs if head not in PROSE}


def _name(head):
    """In the JSON, where a time is in seconds."""
    words = re.sub(r" [mu]s$", " s", head.lower().removesuffix(" %")).replace("-", " ")
    return HEADS.get(head, "part" if words.startswith("part of ") else words.replace(" ", "_"))


def _columns(lines):
    """The cells of lines, cut where all of them have two blanks."""
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    blank = "".join(" " if all(line[n] == " " for line in padded) else "x" for n in range(width))
    spans = [found.span() for found in re.finditer("x+( x+)*", blank)]
    rows = []
    for line in padded:
        *cells, last = (line[start:end].strip() for start, end in spans)
        if rows and len(spans) > 1 and not any(cells):  # the last cell goes on
            rows[-1][-1] += last if rows[-1][-1].endswith(",") else f" {last}"
        else:
            rows.append([*cells, last])
    return rows


def check_table(table, found, asked):
    """Each row is a record, of the topology asked for and of the heading's strategy unless it says
    otherwise; a sum is that of its column."""
    columns = [(_name(head), _factor(head)) for head in table.heads if head not in PROSE]
    around = {"topology": asked, "name": table.strategy}
    unsaid = {name: value for name, value in around.items() if name not in dict(columns)}
    possible = [
        it for it in found if all(it.get(name, value) == value for name, value in unsaid.items())
    ]
    matched = []
    for row in table.rows:
        cells = [(text, *column) for text, column in zip(row, columns, strict=False)]
        where = f"{table.heading}: {'  '.join(row)}\nbelow {'  '.join(table.heads)}"
        if row[0] in ("sum", "~ sum"):
            for place, (text, name, factor) in enumerate(cells[1:], 1):
                total = sum(it[name] for it in matched) if text else 0
                if text and not matches(text, total, factor):
                    raise AssertionError(f"{where}: {text} is not the sum of {name}")
                if (
                    text
                    and row[0] == "sum"
                    and value_of(text) != sum(value_of(above[place]) for above in table.rows[:-1])
                ):
                    raise AssertionError(f"{where}: what is printed does not add up to {text}")
            continue
        fitting = (
            it
            for it in possible
            if all(name in it and matches(text, it[name], factor) for text, name, factor in cells)
        )
        matched.append(next(fitting, None))
        if not matched[-1]:
            raise AssertionError(f"{where}: no record of the JSON")


def _factor(head):
    return next((factor for unit, factor in FACTORS.items() if unit in head.split()), 1)


# ------------------------------------------------ sentences

KINDS = {  # units, and how names of such numbers end in the JSON
    "rate": ("MB/s GB/s bytes/s ops/s GOPS", "_per_s"),
    "time": ("s ms us ns seconds", "_s"),
    "bytes": ("byte bytes", "bytes"),
    "share": ("%", ("share", "utilisation")),
    "ratio": ("times", ()),
    "inputs": ("input inputs", ()),
    "nodes": ("node nodes", "idle_nodes"),
    "layers": ("layer layers", ()),
}
KIND_OF = {unit: kind for kind, (units, _) in KINDS.items() for unit in units.split()}
NUMBER = r"(?<![\w^.,-])(-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?)"
# a unit behind a number that is the end of neither a term nor a range
QUANTITY = re.compile(rf"(?<![-/] ){NUMBER} ({'|'.join(KIND_OF)})(?![\w/])")
SUM = re.compile(rf"(\d[-\d.,e+* ]*) ([=~]) {NUMBER} (us|bytes)")  # to be checked by hand


def quantities(data, found):
    """The question's numbers by kind, and what sentences may derive from them; in order."""
    kinds = {kind: set() for kind in (*KINDS, "other")}
    for record in found:
        for name, value in record.items():
            if type(value) in (int, Fraction):
                of = next((kind for kind, (_, end) in KINDS.items() if name.endswith(end)), "other")
                kinds[of].add(value)
    asked, totals = data["asked"], data.get("totals", {})
    nodes, layers = asked["system"]["nodes"], len(asked["network"])
    kinds["inputs"] |= {1, asked["inputs"]}
    kinds["nodes"] |= {nodes, layers, *(nodes - it["nodes"] for it in found if "nodes" in it)}
    kinds["layers"] |= {*range(1, layers + 1)}
    kinds["bytes"] |= {-value for value in kinds["bytes"]}
    kinds["bytes"] |= {1024, totals.get("sram_bytes", 0) - totals.get("weight_bytes", 0)}  # a KB
    kinds["ratio"] |= {nodes - 1}
    share_s = data.get("last_row_share_s")
    if isinstance(share_s, Fraction):  # what is left is waiting
        above_s = {it.get("streamed_above_limit_s") for it in found} - {None}
        kinds["time"] |= {each_s - share_s for each_s in above_s}
    for name in ("latency_s", "streamed_latency_s", "traffic_bytes"):
        values = {it[name] for it in found if "speed_up" in it and it.get(name)}  # of strategies
        kinds["ratio"] |= {Fraction(a) / b for a, b in permutations(values, 2) if b}
        kinds["time" if name.endswith("_s") else "bytes"] |= {
            a - b for a, b in permutations(values, 2) if a > b
        }
    kinds["share"] |= {ratio - 1 for ratio in kinds["ratio"]}
    return {kind: sorted(values, key=float) for kind, values in kinds.items()}


def check_paragraph(paragraph, kinds, inputs):
    where = f"{paragraph.heading}: {paragraph.text}\nhas"
    for number, unit in QUANTITY.findall(paragraph.text):
        digits = (3, *DIGITS) if unit == "MB/s" else DIGITS  # of a range
        if not _is_one(number, kinds[KIND_OF[unit]], FACTORS.get(unit, 1), digits):
            raise AssertionError(f"{where} {number} {unit}, which is none of the question's")
    bare = re.sub(r" \([^()]*\)", "", paragraph.text)
    for terms, equals, total, unit in SUM.findall(bare):
        factors = [re.findall(NUMBER, term) for term in terms.split(" + ")]
        added = sum(prod(map(value_of, each)) for each in factors)
        is_wrong = not isclose(added, value_of(total), rel_tol=1e-8) or (
            equals == "=" and added != value_of(total)
        )
        if is_wrong:
            raise AssertionError(f"{where} a wrong sum, {terms} {equals} {total}")
        for number in chain(*factors):
            is_count = _is_one(number, sorted([inputs, inputs - 1]))
            if not is_count and not _is_one(number, kinds[KIND_OF[unit]], FACTORS.get(unit, 1)):
                raise AssertionError(f"{where} {number} {unit} in a sum: none of the question's")


def value_of(text):
    return Fraction(text.replace(",", ""))


def _is_one(number, values, factor=1, digits=DIGITS):
    """Whether it is one of these values in order."""
    near = float(number.replace(",", "")) / factor
    low, high = sorted((0.99 * near, 1.01 * near))
    close = values[bisect_left(values, low, key=float) : bisect_right(values, high, key=float)]
    return any(matches(number, value, factor, digits) for value in close)


def check(text, data):
    """All of a text against all of the JSON's numbers, exact as analysis.as_dict gives them."""
    found, asked = [*records(data)], data["asked"]
    topology = asked["system"]["topology"]
    parts = split(text, {name for it in found for name in it})
    both = quantities(data, found)  # only of Q4; all else is of the topology asked for
    own = quantities(data, [it for it in found if it.get("topology", topology) == topology])
    for part in parts:
        if isinstance(part, Table):
            check_table(part, found, topology)
        else:
            is_of_both = "RING" in part.heading
            check_paragraph(part, both if is_of_both else own, asked["inputs"])
    return [part for part in parts if isinstance(part, Table)]
