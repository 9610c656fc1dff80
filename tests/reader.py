"""Reads what is printed for people and compares it with the JSON of the same question.

It knows no sentence. A table is read by its heads, which HEADS takes to names of the JSON; each row
must be one record of it. In sentences each number that has a unit must be one of the question's
numbers, whole or rounded once.
"""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import permutations
from math import isclose

from lab3 import ConvLayer

MS, US = 1000, 10**6
HEADS = {  # what a column is called: its name in the JSON, and how many of its unit are one there
    "inputs": "inputs",
    "strategy": "name",
    "topology": "topology",
    "layer": "layer",
    "step": "work",
    "work": "work",
    "latency ms": ("latency_s", MS),
    "streamed ms": ("streamed.latency_s", MS),
    "lower bound ms": ("limit_s", MS),
    "traffic bytes": "traffic_bytes",
    "ops of a node": "node_ops",
    "bytes of a link": "link_bytes",
    "time us": ("time_s", US),
    "communication us": ("communication_s", US),
    "speed-up": "speed_up",
    "utilisation %": ("utilisation", 100),
    "idle": "idle_nodes",
    "bottleneck": "bottleneck",
    "twice": "twice",
    "fullest": "where",
    "where": "where",
    "bytes": "total_bytes",
    "fits": "fits",
    "bytes left": "free_bytes",
    "waiting": "waiting_inputs",
    "weights": "weight_bytes",
    "input": "input_bytes",
    "output": "output_bytes",
    "total bytes": "total_bytes",
    "C / A, ops per byte of output": "ops_per_byte",
    **{name: name for name in (*ConvLayer._fields, "out_x", "out_y", "macs", "ops")},
    **{name: name for name in ("weight_bytes", "input_bytes", "output_bytes")},
    "one input s": ("one_s", 1),
    "all inputs s": ("all_s", 1),
    "bytes per input": "bytes_per_input",
    "reading": "reading",
    "part": "part",
    "ms": ("part_s", MS),
    "% of the latency": ("share", 100),
    "#": "rank",
    "nodes": "nodes",
    "SRAM bytes": "sram_bytes",
    "plan": "text",
}
NAMED = ("strategies", "sram", "compared", "faster")  # dictionaries from names to records


def matches(text, value, factor=1):
    """Whether the text is this value in a unit of which so many are one."""
    if value is None:
        return text == "-"
    if isinstance(value, bool):
        return text == {True: "yes", False: "NO"}[value]
    if isinstance(value, str):
        return text == value
    if not re.fullmatch(r"-?[\d,]+(\.\d+)?(e[+-]\d+)?", text):
        return False
    printed, value = Fraction(text.replace(",", "")), value * factor
    if isinstance(value, int):
        return printed == value
    return printed == value or any(
        printed == Fraction(_rounded(value, digits)) for digits in (4, 5, 9, 10, 11, 12, 30)
    )


def _rounded(value, digits):
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


# ------------------------------------------------ the JSON, as flat records


def records(data):
    """Every object of the JSON with what stands around it, and names of nested ones dotted."""
    return [*_records(data, {}), *_losses(data), *_readings(data)]


def _records(value, around, key=""):
    if isinstance(value, list):
        for rank, each in enumerate(value, 1):
            yield from _records(each, {**around, "rank": rank})
    elif isinstance(value, dict):
        flat = {**around, **_flat(value), **value.get("fullest", {})}
        if {"weight_bytes", "input_bytes", "output_bytes"} <= {*value}:
            parts = ("weight_bytes", "input_bytes", "output_bytes")
            flat["total_bytes"] = sum(value[part] for part in parts)
        yield flat
        for name, each in value.items():
            yield from _records(each, {**flat, "name": name} if key in NAMED else flat, name)


def _flat(value):
    nested = {
        f"{name}.{field}": one
        for name, each in value.items()
        if isinstance(each, dict)
        for field, one in each.items()
        if not isinstance(one, (dict, list))
    }
    flat = {name: one for name, one in value.items() if not isinstance(one, (dict, list))}
    return {**flat, "streamed.latency_s": None, **nested} if "streamed" in value else flat | nested


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
        latency_s = {inputs: it["latency_s"] for inputs, it in by.items()}
        [bytes_per_input] = {it["traffic_bytes"] // inputs for inputs, it in by.items()}
        yield {
            "name": strategy,
            "reading": reading,
            "one_s": latency_s.get(1),
            "all_s": latency_s.get(data["asked"]["inputs"]),
            "bytes_per_input": bytes_per_input,
        }


# ------------------------------------------------ tables


def split(text):
    """Tables, each as (the heading above it, heads, rows), and paragraphs."""
    tables, paragraphs, heading, in_blocks = [], [], "", False
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if re.fullmatch(r"(\d+\. )?[A-Z][A-Z0-9 ,()]+", lines[0]):  # a heading
            named = re.search("(TENSOR|PIPELINE|DATA)(, STREAMED)?", lines[0])
            heading = named[0].lower() if named else ""
        heads, *rows = _columns(lines)
        pairs = [line.split("  ", 1) for line in lines]
        if len(heads) > 1 and all(_name(head) in HEADS for head in heads):
            tables.append((heading, [_name(head) for head in heads], rows))
        elif len(lines) > 1 and all(_name(pair[0]) in HEADS for pair in pairs):  # a row a block
            record = {_name(name): value.strip() for name, value in pairs}
            if not (in_blocks and {*record} <= {*tables[-1][1]}):
                tables.append((heading, [*record], []))
            tables[-1][2].append([record.get(head, "") for head in tables[-1][1]])
            in_blocks = True
            continue
        else:
            paragraphs.append(" ".join(line.strip() for line in lines))
        in_blocks = False
    return tables, paragraphs


def _name(head):
    return "part" if head.startswith("part of ") else head


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


def check_table(heading, heads, rows, found, asked):
    """Each row is a record, of the topology asked for and of the heading's strategy unless it says
    otherwise; a sum is that of its column."""
    matched = []
    for row in rows:
        if row[0] == "sum":
            for head, text in zip(heads, row, strict=True):
                if text not in ("sum", ""):
                    assert matches(text, sum(it[_of(head)[0]] for it in matched), _of(head)[1])
            continue
        fitting = [it for it in found if _fits(heading, heads, row, it, asked)]
        assert fitting, (heading, heads, row)
        matched.append(fitting[0])


def _of(head):
    name = HEADS[head]
    return (name, 1) if isinstance(name, str) else name


def _fits(heading, heads, row, record, asked):
    names = [_of(head)[0] for head in heads]
    if not {*names} <= {*record}:
        return False
    if "topology" not in names and record.get("topology", asked) != asked:
        return False
    if "name" not in names and record.get("name", heading) != heading:
        return False
    return all(
        matches(text, record[_of(head)[0]], _of(head)[1])
        for head, text in zip(heads, row, strict=True)
    )


# ------------------------------------------------ sentences

UNITS = {  # the numbers with a unit, and how many of it are one in the JSON
    "s": ("time", 1),
    "ms": ("time", MS),
    "us": ("time", US),
    "ns": ("time", 10**9),
    "byte": ("bytes", 1),
    "bytes": ("bytes", 1),
    "%": ("share", 100),
    "times": ("ratio", 1),
    "MB/s": ("rate", Fraction(1, 10**6)),
    "GB/s": ("rate", Fraction(1, 10**9)),
    "bytes/s": ("rate", 1),
    "ops/s": ("rate", 1),
    "GOPS": ("rate", Fraction(1, 10**9)),
    "input": ("inputs", 1),
    "inputs": ("inputs", 1),
    "node": ("nodes", 1),
    "nodes": ("nodes", 1),
    "layer": ("layers", 1),
    "layers": ("layers", 1),
}
NUMBER = r"(?<![\w^.,-])(-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?)"


def quantities(data, found):
    """The question's numbers by kind, and what sentences may derive from them."""
    kinds = {kind: set() for kind, _ in UNITS.values()}
    for record in found:
        for name, value in record.items():
            if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
                if name.endswith("_per_s"):
                    kinds["rate"].add(value)
                elif name.endswith("_s"):
                    kinds["time"].add(value)
                elif name.endswith("bytes"):
                    kinds["bytes"] |= {value, abs(value)}
                elif name in ("share", "utilisation"):
                    kinds["share"].add(value)
    nodes, inputs, layers = (
        data["asked"]["system"]["nodes"],
        data["asked"]["inputs"],
        len(data["asked"]["network"]),
    )
    kinds["inputs"] |= {1, inputs}
    kinds["nodes"] |= {nodes, layers, *(it["idle_nodes"] for it in found if "idle_nodes" in it)}
    kinds["nodes"] |= {nodes - it["nodes"] for it in found if "nodes" in it}
    kinds["layers"] |= {*range(1, layers + 1)}
    totals = data.get("totals", {})
    kinds["bytes"] |= {
        1024,  # a KB
        *totals.values(),
        totals.get("sram_bytes", 0) - totals.get("weight_bytes", 0),
    }
    results = [it for it in found if "traffic_bytes" in it]
    for name in ("latency_s", "streamed.latency_s", "traffic_bytes"):
        values = {it[name] for it in results if isinstance(it.get(name), (int, Fraction))}
        kinds["ratio"] |= {Fraction(a) / b for a, b in permutations(values, 2) if b}
        if name.endswith("_s"):
            kinds["time"] |= {a - b for a, b in permutations(values, 2) if a > b}
    kinds["ratio"] |= {nodes - 1}
    kinds["share"] |= {ratio - 1 for ratio in kinds["ratio"]} | {Fraction(9999, 10000)}
    return kinds


def check_paragraph(text, kinds, inputs):
    for number, unit in re.findall(rf"(?<![-/] ){NUMBER} ({'|'.join(UNITS)})(?![\w/])", text):
        kind, factor = UNITS[unit]
        assert _is_one(number, kinds[kind], factor), (number, unit, text)
    if sums := re.fullmatch(
        r"([\d.,e+* -]+) = [\d.,e+-]+ (us|bytes)", text
    ):  # to be checked by hand
        kind, factor = UNITS[sums[2]]
        for number in re.findall(NUMBER, sums[1]):
            is_count = _is_one(number, [inputs, inputs - 1, 1, 0])
            assert is_count or _is_one(number, kinds[kind], factor), (number, text)


def _is_one(number, values, factor=1):
    near = float(number.replace(",", ""))
    return any(
        isclose(near, float(value * factor), rel_tol=1e-3) and matches(number, value, factor)
        for value in values
    )


def check(text, data):
    """All of a text against all of the JSON's numbers, exact as analysis.as_dict gives them."""
    found = records(data)
    asked = data["asked"]["system"]["topology"]
    limits = {it["inputs"]: it["latency_s"] for it in data.get("lower_bound", [])}
    found = [{**it, "limit_s": limits.get(it.get("inputs"))} for it in found]
    tables, paragraphs = split(text)
    for heading, heads, rows in tables:
        check_table(heading, heads, rows, found, asked)
    kinds = quantities(data, found)
    for paragraph in paragraphs:
        check_paragraph(paragraph, kinds, data["asked"]["inputs"])
    return tables, paragraphs
