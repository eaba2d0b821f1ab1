"""The parts of a campaign as forms: which fields each has, and what stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.campaign.fields import FieldSpec, fields_of
from core.campaign.manifest import Budgets, CampaignFile, CandidateHead
from core.campaign.manifest import Limits as CampaignLimits
from core.campaign.toml_map import Place
from core.repositories import RepositoryEntry
from core.retrievers.registry import entry_model, retriever_names
from tui.widgets.field_form import Section
from tui.widgets.outline import HEAD, LIMITS

_HEAD_FIELDS = ("name", "cases", "baseline", "cutoffs", "seed")
_MOST_CHOICES = 60  # entries of a menu
ADDING = {
    "repositories": "What is searched: Git repositories, each at the commit that the bank was derived at.",
    "candidates": "What is compared: retrievers, each with its options. One may be the baseline.",
}


def section_for(data: Mapping[str, Any], place: Place) -> Section:
    """Return what the form shows of a part of a campaign; may load a retriever's module."""
    if place == LIMITS:
        specs = [*fields_of(CampaignLimits), *fields_of(Budgets)]
        return _section("Limits and budgets", _below(LIMITS, specs), data)
    if place == HEAD or not place:
        return _head(data)
    table = str(place[0])
    if len(place) == 1:
        one = "a repository" if table == "repositories" else "a candidate"
        return Section(table.capitalize(), (), {}, (("add", f"Add {one}"),), ADDING.get(table, ""))
    if table == "repositories":
        actions = (("browse", "Browse"), ("remove", "Remove"))
        specs = _below(place, fields_of(RepositoryEntry))
        return _section(f"Repository {_number(place)}", specs, data, actions)
    return _candidate(data, place)


def _head(data: Mapping[str, Any]) -> Section:
    known = {spec.name: spec for spec in fields_of(CampaignFile)}
    ids = [
        entry["id"]
        for entry in _list(data.get("candidates"))
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
    ]
    if len(ids) <= _MOST_CHOICES:
        known["baseline"] = known["baseline"]._replace(kind="choice", choices=tuple(dict.fromkeys(ids)))
    return _section("Campaign and bank", [known[name] for name in _HEAD_FIELDS], data)


def _candidate(data: Mapping[str, Any], place: Place) -> Section:
    names = retriever_names()
    wanted = value_at(data, (*place, "retriever"))
    try:
        specs: Sequence[FieldSpec] = (
            fields_of(entry_model(wanted)) if wanted in names else fields_of(CandidateHead)
        )
    except AttributeError:  # a retriever that describes no entry
        specs = fields_of(CandidateHead)
    retriever = FieldSpec(
        ("retriever",), "choice", required=True, default=None, choices=names, help="What answers the queries."
    )
    rest = [spec for spec in specs if spec.place not in {("id",), ("retriever",)}]
    first = [spec for spec in specs if spec.place == ("id",)]
    actions = [("duplicate", "Duplicate"), ("remove", "Remove")]
    if value_at(data, (*place, "id")) != data.get("baseline"):
        actions.insert(0, ("baseline", "Baseline"))
    title = f"Candidate {_number(place)}"
    return _section(title, _below(place, [*first, retriever, *rest]), data, actions)


def _section(
    title: str,
    specs: Sequence[FieldSpec],
    data: Mapping[str, Any],
    actions: Sequence[tuple[str, str]] = (),
) -> Section:
    values = {spec.place: value_at(data, spec.place) for spec in specs}
    return Section(title, tuple(specs), values, tuple(actions))


def _below(place: Place, specs: Sequence[FieldSpec]) -> list[FieldSpec]:
    return [spec._replace(place=(*place, *spec.place)) for spec in specs]


def value_at(data: Any, place: Place) -> Any:
    """Return the value at a place, None where there is none."""
    for part in place:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _number(place: Place) -> str:
    return f"{int(place[1]) + 1:,}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
