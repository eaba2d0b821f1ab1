"""Reports of a graded run in every form: complete, the same each time, silent of what is private."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from core import api
from core.reports.facts import RepositoryFacts, RunFacts
from core.reports.graded_sections import by_shape, overall, questions
from core.reports.graded_summary import graded_summary
from core.reports.graded_table import GRADED_COLUMNS, graded_csv
from core.reports.graded_tables import graded_tables
from core.reports.graded_trec import graded_qrels, graded_run
from core.reports.leaderboard import Leaderboard
from core.reports.markdown import markdown
from core.reports.saved import parse_summary
from core.reports.summary import summary_bytes
from core.reports.wording import GRADED_LIMITS
from core.rescoring import Rescored
from core.scoring.graded_records import GradedBoard
from tests.support.graded import MODULES, SECRET_WORDS, board
from tests.support.graded import graded_run as make_run

HOSTILE = ["[/foo] bar", "[/]", "[X=http://a]", "\x1b]52;c;aGk=\x07", "\u202eabc", "|a|\n# b", "`<b>`"]
PUBLIC = RunFacts(
    "demo", "0" * 64, "graded-v1", "1" * 64, (RepositoryFacts("shop", "2" * 40),), (), "", "", ""
)
PRIVATE = PUBLIC._replace(repositories=(RepositoryFacts("shop", "2" * 40, private=True),))


def drawn(*parts: Any) -> str:
    console = Console(width=80, highlight=False, file=StringIO())
    with console.capture() as found:
        for part in parts:
            console.print(part)
    return found.get()


def every_form(scored: Rescored) -> dict[str, str]:
    derived = (scored.board, scored.facts, scored.examples, scored.graded)
    assert scored.graded is not None
    return {
        "md": markdown(*derived),
        "json": summary_bytes(*derived).decode(),
        "text": drawn(Leaderboard(*derived)),
        "csv": "".join(graded_csv(scored.graded, scored.facts)),
    }


@pytest.fixture
def scored(tmp_path: Path) -> Rescored:
    return api.rescore(make_run(tmp_path))


def test_no_form_speaks_of_known_targets_and_all_are_the_same_each_time(scored: Rescored) -> None:
    forms = every_form(scored)
    for form, text in forms.items():
        assert "known target" not in text.casefold().replace("-", " "), form
    assert every_form(scored) == forms


def test_the_markdown_tells_metrics_shapes_statistics_questions_and_limits(scored: Rescored) -> None:
    text = every_form(scored)["md"]
    assert text.startswith("# Graded results: test\n")
    for title in ("Graded metrics", "By shape", "Recall and rank, with intervals", "Differences to a"):
        assert f"\n## {title}\n" in text
    assert (
        "| Candidate | Over | Recall@1 | Recall@3 | Recall@5 | Precision@5 | MRR | nDCG@5 | Hit rate |"
        in text
    )
    assert "not computed without an embedding function" in text
    assert "### q-one (focused)" in text
    assert "Expected: `shop/orders.py 3, shop/prices.py 1`" in text
    assert "- a: price is negative: missed: lacks price, is, negative" in text
    assert "questions that share a module of their highest grade" in text.casefold()
    assert all(limit in text for limit in GRADED_LIMITS)
    assert "lines per hit" not in text.casefold()


def test_the_json_has_a_graded_part_and_reads_back_without_it(scored: Rescored) -> None:
    raw = every_form(scored)["json"].encode()
    graded = json.loads(raw)["graded"]
    assert (graded["questions"], graded["modules"], graded["embedding"]) == (3, 3, None)
    own = graded["candidates"]["a"]["questions"]["q-one"]
    assert own["expected"] == {"shop/prices.py": 3}
    assert own["why"] == "found" and own["recall"]["1"] == 1.0
    assert [fact["found"] for fact in own["context"]["facts"]] == [True, False]
    assert graded["candidates"]["b"]["questions"]["q-one"]["why"] == "empty"
    assert graded["candidates"]["a"]["overall"]["context_precision"] is None
    assert parse_summary(raw, "here").board == scored.board
    assert scored.board.sought == "relevant module"


def test_the_terminal_tells_it_in_80_columns(scored: Rescored) -> None:
    text = every_form(scored)["text"]
    assert max(map(len, text.splitlines())) <= 80
    for part in ("nDCG@5", "Faithful", "By shape", "b falls short on 1 question:", "q-one: empty"):
        assert part in text


def test_the_csv_has_a_row_for_each_question_and_candidate(scored: Rescored) -> None:
    header, *rows = csv.reader(StringIO(every_form(scored)["csv"]))
    assert tuple(header) == GRADED_COLUMNS
    assert [(row[0], row[2]) for row in rows] == [
        (case, name) for name in "ab" for case in ("q-one", "q-two", "q-three")
    ]
    first = dict(zip(header, rows[0], strict=True))
    assert (first["why"], first["recall_1"], first["facts"], first["facts_found"]) == (
        "found",
        "1.0",
        "2",
        "1",
    )
    assert first["context_precision"] == ""


def test_nothing_of_a_private_repository_is_in_any_form(tmp_path: Path) -> None:
    scored = api.rescore(make_run(tmp_path, private=True))
    forms = every_form(scored)
    for form, text in forms.items():
        for word in SECRET_WORDS:
            assert word not in text, (form, word)
    assert json.loads(forms["json"])["graded"]["candidates"]["a"]["overall"]["questions"] == 3
    assert "Recall@5" in forms["md"] and "nDCG@5" in forms["text"]


def test_ir_measures_computes_our_numbers_from_the_trec_files(scored: Rescored) -> None:
    assert scored.graded is not None and scored.reader.bank.graded is not None
    asked = scored.reader.bank.graded.questions.values()
    reader: Any = ir_measures
    qrels = list(reader.read_trec_qrels("".join(graded_qrels(asked))))
    assert len(qrels) == len(MODULES) * 3
    ndcg = ir_measures.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7}) @ 5
    for found in scored.graded.candidates.values():
        run = list(reader.read_trec_run("".join(graded_run(found))))
        ours = found.overall
        wanted = {
            ir_measures.R @ 1: ours.recall[1],
            ir_measures.R @ 5: ours.recall[5],
            ir_measures.P @ 5: ours.precision,
            ir_measures.RR: ours.mrr,
            ir_measures.Success @ 100: ours.hit_rate,
            ndcg: ours.ndcg,
        }
        theirs = reader.calc_aggregate(list(wanted), qrels, run)
        for measure, value in wanted.items():
            assert theirs[measure] == pytest.approx(value), measure


def whole(graded: GradedBoard, about: RunFacts) -> str:
    names = tuple(graded.candidates)
    sections = (overall(graded, names), by_shape(graded, names), questions(graded, names, about))
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_neither_markup_nor_control(text: str) -> None:
    graded = board(hostile=text)
    markup = whole(graded, PUBLIC)
    plain = drawn(*graded_tables(graded, PUBLIC, tuple(graded.candidates)))
    for found in (markup, plain, json.dumps(graded_summary(graded, PUBLIC), ensure_ascii=False)):
        assert not any(sign in found for sign in ("\x1b", "\x07", "\u202e"))
    html = MarkdownIt("commonmark").enable("table").render(markup)
    assert "<b>" not in html and "<a " not in html
    assert html.count("<h1>") == 0
    assert html.count("<h3>") == 2


def test_a_candidate_without_a_probe_has_dashes_and_an_embedding_is_named() -> None:
    text = whole(board(embedding="a model"), PUBLIC)
    assert "| y | — | — | — | — | — | — | — |" in text
    assert "by `a model`." in text
    assert "| x | .250 | .500 | .125 | 10.0× | .500 | 1.000 | .250 |" in text


def test_questions_of_private_repositories_are_left_out_whoever_asks() -> None:
    graded = board()
    assert list(questions(graded, ("x", "y"), PRIVATE)) == []
    assert "questions" not in graded_summary(graded, PRIVATE)["candidates"]["x"]
    assert list(graded_csv(graded, PRIVATE)) == [",".join(GRADED_COLUMNS) + "\n"]
    assert "one:" not in drawn(*graded_tables(graded, PRIVATE, ("x", "y")))
