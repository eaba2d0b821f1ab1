from __future__ import annotations

from core.reports.cautions import cautions
from core.reports.sentence import plain
from tests.unit.reports.boards import campaign


def test_cautions_tell_gaps_without_a_comparison_and_unanswered_channels_always() -> None:
    found = campaign({"a": ["failed", "unsupported", 1, 1]})
    assert [plain(sentence) for sentence in cautions(found.board, found.about)] == [
        "a: primary query failed, 1 of 4. What was not answered counts as a miss.",
        "a does not answer the channel of 1 of 4 queries; they count as misses.",
    ]
    compared = campaign({"a": [1, None, 2], "b": [1, 1, "failed"]}, baseline="a")
    assert cautions(compared.board, compared.about) == ()


def test_a_model_without_a_digest_is_told_of() -> None:
    found = campaign({"a": [1, None, 2]})
    (facts,) = found.about.candidates
    about = found.about._replace(candidates=(facts._replace(undigested=True),))
    (sentence,) = cautions(found.board, about)
    assert plain(sentence).startswith("a finds its model by name: no digest of its weights is part of this")


def test_an_interval_without_width_is_not_passed_off_as_certainty() -> None:
    found = campaign({"a": [1] * 8, "b": [1, 2] * 4}, baseline="a")
    (sentence,) = cautions(found.board, found.about)
    assert plain(sentence) == (
        "An interval without width says that every unit of cases gave the same value here; it cannot show "
        "how far other cases would differ. Here: a Hit@1, Recall@5, MRR@5, MRR@10; b Recall@5, difference "
        "in Recall@5."
    )
