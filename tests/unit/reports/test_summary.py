from __future__ import annotations

import json

import pytest

from core.canonical import load_json
from core.reports.facts import Disturbance
from core.reports.summary import summary, summary_bytes
from tests.unit.reports.boards import SECRET, Campaign, Rank, campaign


@pytest.fixture(scope="module")
def compared() -> Campaign:
    lexical: list[Rank] = [1, None, 4, None, 2, 9, None, "failed"] * 4
    hybrid: list[Rank] = [1, 2, 2, None, 1, 3, None, 1] * 4
    return campaign(
        {"lexical": lexical, "hybrid": hybrid},
        baseline="lexical",
        repositories={"alpha": False, "vault": True},
        error_class="bad\x1b[31m\ud800",
        memory_budget_mib=200.0,
    )


def test_models_hold_macro_and_micro_by_cutoff_first(compared: Campaign) -> None:
    found = summary(compared.board, compared.about)
    assert found["format"] == "boresight-summary@1"
    assert list(found["models"]) == ["lexical", "hybrid"]
    for model in found["models"].values():
        for mean in ("macro", "micro"):
            assert list(model[mean]) == ["1", "5", "10"]
            assert all(list(values) == ["hit", "recall", "mrr"] for values in model[mean].values())
    assert found["models"]["hybrid"]["macro"]["5"]["recall"] == pytest.approx(0.75)


def test_everything_that_the_report_lists_is_there(compared: Campaign) -> None:
    found = summary(compared.board, compared.about, compared.examples)
    model = found["models"]["hybrid"]
    assert {"repositories", "intents", "cells", "counts", "errors", "probes", "latency", "index"} <= set(
        model
    )
    assert {"memory", "levels", "lines_per_hit", "intervals", "comparison", "decision", "support"} <= set(
        model
    )
    assert "lower bound" in model["memory"]["caveat"]
    assert model["comparison"]["recall_at_5"]["interval"]["level"] == 0.95
    assert model["decision"] == "needs_more_data"
    assert found["thresholds"]["material_gain"] == 0.05
    assert found["thresholds"]["latency_ratio_limit"] == 1.25
    assert found["run"]["bank"] == {
        "format": "known-target-v1",
        "kind": "known-target",
        "sha256": "2" * 64,
        "cases": 32,
        "ambiguous": None,
    }
    assert found["run"]["repositories"]["vault"] == {"commit": "c" * 40, "private": True, "cases": 16}
    assert found["models"]["lexical"]["comparison"] is None
    assert len(found["limits"]) >= 5


def test_bytes_are_the_same_value_strict_json_and_the_same_every_time(compared: Campaign) -> None:
    raw = summary_bytes(compared.board, compared.about, compared.examples)
    assert load_json(raw) == summary(compared.board, compared.about, compared.examples)
    assert raw == summary_bytes(compared.board, compared.about, compared.examples)
    assert raw.endswith(b"}\n")


def test_small_objects_stand_on_one_line(compared: Campaign) -> None:
    text = summary_bytes(compared.board, compared.about).decode()
    assert '"latency": {\n' in text
    assert max(len(line) for line in text.splitlines() if '"hit"' in line) <= 130


def test_error_classes_are_made_printable(compared: Campaign) -> None:
    (kind,) = summary(compared.board, compared.about)["models"]["lexical"]["errors"]
    assert kind == "bad␛[31m\\ud800"


def test_nothing_of_a_private_repository_but_numbers_is_there(compared: Campaign) -> None:
    raw = summary_bytes(compared.board, compared.about, compared.examples).decode()
    assert SECRET not in raw
    assert '"vault"' in raw


def test_examples_of_public_repositories_show_ranks_and_words(compared: Campaign) -> None:
    found = summary(compared.board, compared.about, compared.examples)["disagreements"]
    assert found
    assert {"case", "repository", "intent", "query", "targets", "outcomes"} == set(found[0])
    assert found[0]["outcomes"] == {"lexical": 4, "hybrid": 2} or found[0]["outcomes"]["hybrid"] == 1
    json.dumps(found)


def test_a_comparison_tells_its_own_rule_and_lines_per_hit() -> None:
    own: dict[str, list[Rank]] = {"lexical": [1, None], "hybrid": [1, 1], "grep": [2, 2]}
    found = campaign(own, baseline="lexical", levels={"grep": "file"})
    told = summary(found.board, found.about)
    assert told["level"] == {"used": "file", "reason": "grep supports nothing finer"}
    comparison = told["models"]["hybrid"]["comparison"]
    assert comparison["level"]["used"] == "exact"
    assert comparison["lines_per_hit"]["candidate"]["hits"] == 2
    assert comparison["lines_per_hit"]["baseline"]["hits"] == 1


def test_ambiguous_queries_are_counted_and_cautioned(compared: Campaign) -> None:
    told = summary(compared.board, compared.about._replace(ambiguous=1))
    assert told["run"]["bank"]["ambiguous"] == 1
    assert any(
        caution.startswith("1 of 32 queries has further answers in their repository that do not count")
        for caution in told["cautions"]
    )


def test_what_cannot_be_told_is_null_and_what_was_disturbed_is_counted() -> None:
    found = campaign({"a": [1], "b": [2]}, baseline="a")
    about = found.about._replace(disturbed=Disturbance(3, 7))
    told = load_json(summary_bytes(found.board, about))
    assert told["models"]["b"]["intervals"]["5"]["recall"] is None
    assert told["models"]["b"]["comparison"]["recall_at_5"]["interval"] is None
    assert told["method"]["lone_units"] == ["alpha"]
    assert told["run"]["disturbed"] == {"operations": 3, "planned": 7}
    assert told["cautions"][-1].startswith("3 of 7 operations ran while another campaign")
