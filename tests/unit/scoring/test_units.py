from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.scoring.units import group_units, repository_sizes
from tests.unit.scoring.builders import case


def test_cases_of_one_target_file_are_one_unit() -> None:
    cases = [case("1", paths=["a.py"]), case("2", paths=["b.py"]), case("3", paths=["a.py"])]
    assert group_units(cases) == [[0, 2], [1]]


def test_the_same_path_in_another_repository_is_another_unit() -> None:
    assert group_units([case("1", "r", paths=["a.py"]), case("2", "s", paths=["a.py"])]) == [[0], [1]]


def test_several_targets_join_units_also_through_other_cases() -> None:
    cases = [
        case("1", paths=["a.py"]),
        case("2", paths=["b.py"]),
        case("3", paths=["c.py"]),
        case("4", paths=["d.py", "b.py"]),
        case("5", paths=["a.py", "d.py"]),
    ]
    assert group_units(cases) == [[0, 1, 3, 4], [2]]


def test_where_a_case_names_what_makes_its_unit_its_targets_do_not() -> None:
    cases = [case(name, paths=["a.py", name])._replace(unit_paths=(name,)) for name in ("1", "2")]
    assert group_units(cases) == [[0], [1]]


def test_no_case_makes_no_unit() -> None:
    assert group_units([]) == []


@given(
    st.lists(st.tuples(st.sampled_from("rs"), st.sets(st.sampled_from("abcdef"), min_size=1)), max_size=12)
)
def test_units_are_the_connected_components(drawn: list[tuple[str, set[str]]]) -> None:
    cases = [case(str(n), repository, paths=sorted(paths)) for n, (repository, paths) in enumerate(drawn)]
    components: list[tuple[str, set[str], list[int]]] = []
    for position, (repository, paths) in enumerate(drawn):
        touching = [c for c in components if c[0] == repository and c[1] & paths]
        components = [c for c in components if c not in touching]
        joined = set(paths).union(*(c[1] for c in touching))
        components.append((repository, joined, sorted([position, *(m for c in touching for m in c[2])])))
    assert group_units(cases) == sorted(members for _, _, members in components)


def test_repository_sizes_count_planned_cases() -> None:
    assert repository_sizes([case("1", "s"), case("2", "r"), case("3", "s")]) == {"s": 2, "r": 1}
