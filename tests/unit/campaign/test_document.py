"""One text, edited by form and by hand: comments survive, and nothing is changed by the way."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.campaign.document import CampaignDocument
from core.campaign.saving import ChangedFileError
from core.errors import InputError

TEXT = '''\
# My campaign
format = "boresight-campaign@1"  # the format
name = "x"
cutoffs = [1, 5,
  10]  # three

# Where things are
[[repositories]]
label = "a"
path = "."
# before limits
[limits]
index_timeout = 5.0 # five

# The candidates
# first is plain
[[candidates]]
id = "one"  # its name
retriever = "embedded"

# second is dense
[[candidates]]
id = "two"
[candidates.config]
max_tokens = 5 # tokens
"quoted.key" = """
multi
"""

# last words
'''
INLINE = """\
candidates = [
  {id="a", config={x=1}}, # first
  {id="b"},
]
limits = {index_timeout=5.0}
x.y = 1
"""


def comments(text: str) -> list[str]:
    return [line[line.index("#") :] for line in text.splitlines() if "#" in line]


def test_a_value_is_replaced_where_it_stands() -> None:
    document = CampaignDocument(TEXT)
    document.set(("limits", "index_timeout"), 7.5)
    document.set(("candidates", 1, "config", "max_tokens"), 9)
    document.set(("name",), 'a "quoted" name')
    expected = TEXT.replace("5.0 # five", "7.5 # five").replace("= 5 # tokens", "= 9 # tokens")
    assert document.text == expected.replace('name = "x"', r'name = "a \"quoted\" name"')


def test_new_keys_go_below_their_tables_last_key() -> None:
    document = CampaignDocument(TEXT)
    document.set(("seed",), 3)
    document.set(("limits", "query_timeout"), 9.5)
    document.set(("candidates", 0, "config", "max_tokens"), 12)
    document.set(("candidates", 1, "precision"), "int8")
    assert "  10]  # three\nseed = 3\n" in document.text
    assert "5.0 # five\nquery_timeout = 9.5\n" in document.text
    assert '"embedded"\n\n[candidates.config]\nmax_tokens = 12\n\n# second' in document.text
    assert 'id = "two"\nprecision = "int8"\n[candidates.config]' in document.text
    assert comments(document.text) == comments(TEXT)


def test_a_table_that_is_missing_is_made_at_the_end() -> None:
    document = CampaignDocument('name = "x"')
    document.set(("limits", "index_timeout"), 3)
    assert document.text == 'name = "x"\n\n[limits]\nindex_timeout = 3\n'


def test_unset_removes_the_key_and_nothing_else() -> None:
    document = CampaignDocument(TEXT)
    document.unset(("candidates", 1, "config", "max_tokens"))
    assert document.text == TEXT.replace("max_tokens = 5 # tokens\n", "")
    document.unset(("no", "such", "place"))
    document.set(("limits", "index_timeout"), None)
    assert document.get(("limits",)) == {}


def test_a_list_that_loses_its_layout_keeps_its_comments() -> None:
    document = CampaignDocument("# top\ncutoffs = [\n  1, # the first\n  5, # the page\n]\nseed = 1\n")
    document.set(("cutoffs",), [1, 20])
    assert document.text == "# top\n# the first\n# the page\ncutoffs = [1, 20]\nseed = 1\n"


def test_entries_are_added_copied_and_removed_with_the_comments_around_them_kept() -> None:
    document = CampaignDocument(TEXT)
    assert document.add("candidates", {"config": {"a": 1}, "id": "three", "left": None}) == 2
    assert document.text.index('id = "three"') < document.text.index("# last words")
    assert document.duplicate("candidates", 0, {"id": "one-2"}) == 3
    assert document.get(("candidates", 3)) == {"id": "one-2", "retriever": "embedded"}
    document.remove("candidates", 1)
    document.remove("candidates", 0)
    assert [entry["id"] for entry in document.data["candidates"]] == ["three", "one-2"]
    left = ["# its name", "# tokens"]  # stood in the entries that went
    assert comments(document.text) == [each for each in comments(TEXT) if each not in left]


def test_the_last_entry_can_go_and_a_first_can_come() -> None:
    document = CampaignDocument(TEXT)
    document.remove("repositories", 0)
    assert "repositories" not in document.data
    document.add("repositories", {"label": "z", "path": "p"})
    assert document.data["repositories"] == [{"label": "z", "path": "p"}]
    assert comments(document.text) == comments(TEXT)


def test_inline_tables_are_edited_too() -> None:
    document = CampaignDocument(INLINE)
    document.set(("candidates", 0, "config", "x"), 2)
    document.set(("candidates", 1, "config", "y"), 2)
    document.add("candidates", {"id": "c"})
    document.set(("limits", "query_timeout"), 1.0)
    assert document.data["candidates"] == [
        {"id": "a", "config": {"x": 2}},
        {"id": "b", "config": {"y": 2}},
        {"id": "c"},
    ]
    assert "# first" in document.text


def test_a_layout_that_the_lines_do_not_tell_is_edited_all_the_same() -> None:
    split = '[[candidates]]\nid = "a"\n[limits]\nindex_timeout = 1\n[candidates.config]\nx = 1\n'
    document = CampaignDocument(split)
    document.set(("candidates", 0, "config", "x"), 2)
    document.add("candidates", {"id": "b"})
    document.remove("candidates", 1)
    assert document.data == {
        "candidates": [{"id": "a", "config": {"x": 2}}],
        "limits": {"index_timeout": 1},
    }


def test_line_ends_stay_as_they_are() -> None:
    document = CampaignDocument(TEXT.replace("\n", "\r\n"))
    document.set(("seed",), 1)
    document.add("candidates", {"id": "z"})
    assert document.text.count("\n") == document.text.count("\r\n")


def test_a_text_that_is_no_toml_keeps_the_last_good_data() -> None:
    document = CampaignDocument(TEXT)
    document.replace_text(TEXT + "this is [not\n")
    assert document.fault is not None
    assert document.fault.line == TEXT.count("\n") + 1
    assert document.get(("name",)) == "x"
    with pytest.raises(InputError, match=f"line {document.fault.line} is not valid TOML"):
        document.set(("name",), "y")
    document.replace_text(TEXT)
    assert document.text == TEXT and document.fault is None


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 5000, "x = " + "1" * 5000, 'x = "\x1b"', "\ufeffx = 1", "a = "]
)
def test_hostile_texts_are_faults_with_a_line(text: str) -> None:
    document = CampaignDocument(text)
    assert document.fault is not None and document.fault.line >= 1
    assert document.fault.message.isprintable()


def test_positions_are_those_of_the_text() -> None:
    where = CampaignDocument(TEXT).where
    assert where.spans["candidates", 1] == (22, 28)
    assert where.spans["candidates", 1, "config", "quoted.key"] == (26, 28)
    assert where.line(("candidates", 1, "config", "nothing")) == 24
    assert where.line(("nothing",)) is None
    assert CampaignDocument(INLINE).where.line(("candidates", 1, "id")) == 3


PLACES: list[tuple[str | int, ...]] = [
    ("name",),
    ("cutoffs",),
    ("limits", "index_timeout"),
    ("limits", "new key"),
    ("candidates", 0, "id"),
    ("candidates", 0, "config", "deep"),
    ("candidates", 1, "config", "max_tokens"),
    ("repositories", 0, "private"),
]
VALUES = st.one_of(
    st.text(max_size=8).filter(lambda text: text.isprintable()),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=3),
    st.just({"a": 1, "b c": ["x"]}),
    st.none(),
)


@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), max_size=8))
def test_whatever_is_set_is_what_the_text_says(edits: list[tuple[tuple[str | int, ...], object]]) -> None:
    document = CampaignDocument(TEXT)
    for place, value in edits:
        document.set(place, value)
        assert document.get(place) == value
        assert tomllib.loads(document.text) == document.data
    kept = set(comments(document.text))
    assert {"# My campaign", "# Where things are", "# second is dense", "# last words"} <= kept


def test_saving_keeps_mode_and_link_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "real.toml"
    file.write_text(TEXT)
    file.chmod(0o600)
    link = tmp_path / "campaign.toml"
    link.symlink_to(file)
    document = CampaignDocument.read(link)
    assert not document.is_changed
    document.set(("name",), "y")
    assert document.is_changed
    document.save()
    assert not document.is_changed
    assert link.is_symlink() and file.read_text() == document.text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["campaign.toml", "real.toml"]


def test_a_file_that_somebody_else_wrote_is_not_overwritten_unasked(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(TEXT)
    document = CampaignDocument.read(file)
    document.set(("name",), "mine")
    file.write_text("name = 'theirs'\n")
    assert document.is_stale
    with pytest.raises(ChangedFileError, match="changed on disk"):
        document.save()
    assert file.read_text() == "name = 'theirs'\n"
    document.save(overwrite=True)
    assert file.read_text() == document.text and not document.is_stale


def test_a_new_file_takes_no_existing_ones_place(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    document = CampaignDocument(TEXT, file)
    file.write_text("")
    with pytest.raises(ChangedFileError, match="exists already"):
        document.save()


def test_a_removed_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(TEXT)
    document = CampaignDocument.read(file)
    document.set(("name",), "y")
    file.unlink()
    with pytest.raises(ChangedFileError, match="was removed"):
        document.save()


def test_a_read_only_file_is_refused_with_a_remedy(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(TEXT)
    file.chmod(0o444)
    document = CampaignDocument.read(file)
    document.set(("name",), "y")
    with pytest.raises(InputError, match="read-only; run `chmod u\\+w`"):
        document.save()
    assert file.read_text() == TEXT
    document.save(tmp_path / "campaign-2.toml")
    assert document.path == tmp_path / "campaign-2.toml" and not document.is_changed


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a file"):
        CampaignDocument(TEXT, tmp_path).save(overwrite=True)


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("{ a = 1, b = 2 }", "a", "{ b = 2 }"),
        ("{ a = 1, b = 2 }", "b", "{ a = 1 }"),
        ("{a = 1, b = [2], c = 3}", "b", "{a = 1, c = 3}"),
        ("{ a = 1 }", "a", "{ }"),
    ],
)
def test_a_key_leaves_an_inline_table_as_it_came(before: str, key: str, after: str) -> None:
    document = CampaignDocument(f"x = {before} # why\n")
    document.unset(("x", key))
    assert document.text == f"x = {after} # why\n"
    document.set(("x", "z"), 9)
    assert document.get(("x", "z")) == 9
