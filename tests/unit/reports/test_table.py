from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from core.reports.table import metrics_csv, queries_csv
from tests.unit.reports.boards import SECRET, campaign


def rows(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines), newline="")))


def test_metrics_have_rows_for_all_repositories_intents_and_cells() -> None:
    found = campaign({"a": [1, 2, None, 7], "b": [1, 1, 1, 1]}, repositories={"alpha": False, "vault": True})
    table = rows(metrics_csv(found.board))
    whole = [row for row in table if (row["candidate"], row["repository"], row["intent"]) == ("a", "", "")]
    assert [(row["mean"], row["cutoff"]) for row in whole] == [
        (mean, cutoff) for mean in ("macro", "micro") for cutoff in ("1", "5", "10")
    ]
    macro = found.board.candidates["a"].macro[5]
    assert (float(whole[1]["hit"]), float(whole[1]["mrr"])) == (macro.hit, macro.mrr)
    assert whole[1]["recall_low"]
    assert not whole[4]["recall_low"]
    assert {(row["repository"], row["intent"]) for row in table} == {
        ("", ""),
        ("alpha", ""),
        ("vault", ""),
        ("", "symbol_lookup"),
        ("", "docs_lookup"),
        ("alpha", "symbol_lookup"),
        ("vault", "docs_lookup"),
    }


def test_queries_leave_private_repositories_out() -> None:
    found = campaign({"a": [1, 2, None, 7]}, repositories={"alpha": False, "vault": True})
    text = "".join(queries_csv(found.queries, found.about.private))
    assert SECRET not in text
    assert [row["first_rank_exact"] for row in rows([text])] == ["1", ""]


def test_free_text_is_quoted_printable_and_no_formula() -> None:
    found = campaign({"a": ["failed", 1]}, error_class='=cmd|"x",\n1')
    first, second = rows(queries_csv(found.queries, ()))
    assert first["error_class"] == '\'=cmd|"x",␊1'
    assert (first["status"], first["first_rank_exact"], first["targets"]) == ("failed", "", "1")
    assert (second["status"], second["returned"], second["timed_out"]) == ("answered", "10", "false")
