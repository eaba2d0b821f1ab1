"""Gates as a JUnit XML file, which CI servers read: a test case for each gate and candidate.

The layout is that of the schema that Jenkins publishes (`testsuites`, `testsuite`, `testcase`, `failure`).
Characters that XML 1.0 forbids (most controls, lone surrogates, U+FFFE and U+FFFF) are made visible instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from core.reports.gates import GateRow
from core.text import printable

_FORBIDDEN = re.compile("[\ufffe\uffff]")


def junit(rows: Sequence[GateRow], run: str) -> bytes:
    """Return the file's bytes, the same for the same rows."""
    fallen = str(sum(not row.held for row in rows))
    counts = {"tests": str(len(rows)), "failures": fallen, "errors": "0"}
    suites = ElementTree.Element("testsuites", {"name": "boresight gate", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _legal(f"boresight gate {run}"), **counts})
    for row in rows:
        attributes = {
            "classname": _legal(f"boresight.{row.candidate}"),
            "name": _legal(f"{row.title}: {row.wanted}"),
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not row.held:
            failure = ElementTree.SubElement(
                case, "failure", {"type": "gate", "message": _legal(row.sentence)}
            )
            failure.text = "\n".join(map(_legal, [row.sentence, *row.details]))
        elif row.note:
            ElementTree.SubElement(case, "system-out").text = _legal(row.note)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _legal(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", printable(text))
