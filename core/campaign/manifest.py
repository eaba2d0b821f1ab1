"""Reads what a person wrote: `campaign.toml`, or the seed's JSON manifests with flags, into one Campaign."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from core.errors import InputError, ProblemsError
from core.repositories import Label, RepositoryEntry, read_repository_manifest
from core.scoring.outcomes import kept_cutoffs
from core.scoring.records import ALWAYS_KEPT_CUTOFFS, LARGEST_CUTOFF
from core.text import printable
from core.validation import InputModel, field_path, found, read_json_file, read_text_file, validated

_DEEPEST_ENTRY = 20
_SHOWN_PROBLEMS = 20

Cutoff = Annotated[int, Field(ge=1, le=LARGEST_CUTOFF)]


class Limits(InputModel):
    """Enforced on every operation: seconds per index and per query, bytes of output per attempt."""

    index_timeout: float = Field(
        default=3600.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds after which building an index is ended and has failed.",
    )
    query_timeout: float = Field(
        default=900.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds after which a query or ctx probe is ended and has failed.",
    )
    max_output_bytes: int = Field(
        default=64 * 1024 * 1024, ge=1024, le=2**40, description="Bytes that one operation may print."
    )


class Budgets(InputModel):
    """Reported beside the outcome, never enforced: MiB of sampled RSS, total seconds of indexing."""

    memory_budget_mib: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="MiB of memory that a candidate should stay below; reported, never enforced.",
    )
    max_index_seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds that all of a candidate's indexes should take; reported, never enforced.",
    )


@dataclass(frozen=True)
class Candidate:
    """One candidate: its id and its entry as written, with the folder that relative paths start from."""

    id: str
    entry: Mapping[str, Any]
    base: Path
    source: str  # what messages call it: file and position


@dataclass(frozen=True)
class Campaign:
    """What a person asked to run, whichever way it was spelled."""

    name: str
    cases: Path
    repositories: tuple[RepositoryEntry, ...]
    candidates: tuple[Candidate, ...]
    baseline: str | None = None
    cutoffs: tuple[int, ...] = ALWAYS_KEPT_CUTOFFS
    limits: Limits = field(default_factory=Limits)
    budgets: Budgets = field(default_factory=Budgets)
    seed: int = 0


class _LimitsTable(Limits, Budgets):
    """The `[limits]` table of a campaign file: limits and budgets together."""


class CampaignFile(InputModel):
    """The campaign file, `campaign.toml`."""

    format: Literal["boresight-campaign@1"] = "boresight-campaign@1"
    name: Label = Field(description="Runs go to runs/NAME/NUMBER.")
    cases: str = Field(min_length=1, description="The bank: a file of cases, from this file's folder.")
    baseline: str | None = Field(default=None, description="The candidate that others are compared with.")
    cutoffs: list[Cutoff] = Field(
        default=list(ALWAYS_KEPT_CUTOFFS),
        description="Ranks that metrics are told at, up to 100; 1, 5 and 10 are always kept.",
    )
    seed: int = Field(
        default=0, ge=0, le=2**63 - 1, description="Of the candidates' order and of resampling."
    )
    limits: _LimitsTable = _LimitsTable()
    repositories: list[RepositoryEntry] = Field(min_length=1)
    candidates: list[dict[str, Any]] = Field(min_length=1)


class ModelManifest(InputModel):
    """The model manifest; each retriever checks the entries that are its own."""

    model_config = ConfigDict(extra="allow")

    models: list[dict[str, Any]] = Field(min_length=1)


class CandidateHead(InputModel):
    """What every retriever's entry begins with."""

    model_config = ConfigDict(extra="allow")

    id: Label


def read_campaign(path: Path) -> Campaign:
    """Read a campaign file; relative paths in it start from its own folder.

    Raises ProblemsError that names each field, what was found, what was expected and what to do.
    """
    return parse_campaign(read_text_file(path), path)


def parse_campaign(text: str, path: Path) -> Campaign:
    """Read a campaign file's text; `path` is where it lies or will lie. Raises as `read_campaign`."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for a number of 5,000 digits
        raise InputError(f"{path}: not valid TOML: {printable(str(error), 300)}; mend that line") from None
    parsed = validated(CampaignFile, data, str(path))
    base = path.absolute().parent
    return _checked(
        Campaign(
            name=parsed.name,
            cases=base / parsed.cases,
            repositories=tuple(
                entry.model_copy(update={"path": base / entry.path}) for entry in parsed.repositories
            ),
            candidates=_candidates(parsed.candidates, base, str(path), "candidates"),
            baseline=parsed.baseline,
            cutoffs=kept_cutoffs(parsed.cutoffs),
            limits=Limits(**parsed.limits.model_dump(include=set(Limits.model_fields))),
            budgets=Budgets(**parsed.limits.model_dump(include=set(Budgets.model_fields))),
            seed=parsed.seed,
        ),
        str(path),
    )


def read_models(path: Path, ids: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Read a model manifest; asset paths start from the working directory, as in the seed.

    `ids` chooses and orders candidates; none takes all. Raises InputError naming an unknown id.
    """
    manifest = validated(ModelManifest, read_json_file(path), str(path))
    candidates = _candidates(manifest.models, Path.cwd(), str(path), "models")
    if not ids:
        return candidates
    by_id = {candidate.id: candidate for candidate in candidates}
    unknown = [found(wanted) for wanted in ids if wanted not in by_id]
    if unknown:
        raise InputError(
            f"{path}: --model-id: found {', '.join(unknown)}, expected ids of its models; "
            f"choose from {', '.join(by_id)}"
        )
    return tuple(by_id[wanted] for wanted in dict.fromkeys(ids))


def campaign_from_flags(
    *,
    name: str,
    dataset: Path,
    repo_manifest: Path,
    model_manifest: Path,
    model_ids: Sequence[str] = (),
    baseline: str | None = None,
    cutoffs: Sequence[int] = ALWAYS_KEPT_CUTOFFS,
    limits: Limits | None = None,
    budgets: Budgets | None = None,
) -> Campaign:
    """Return the campaign that the seed's flags spell; raises InputError."""
    return _checked(
        Campaign(
            name=name,
            cases=dataset.absolute(),
            repositories=read_repository_manifest(repo_manifest),
            candidates=read_models(model_manifest, model_ids),
            baseline=baseline,
            cutoffs=kept_cutoffs(cutoffs),
            limits=limits or Limits(),
            budgets=budgets or Budgets(),
        ),
        "the flags",
    )


def _candidates(
    entries: Sequence[Mapping[str, Any]], base: Path, file: str, table: str
) -> tuple[Candidate, ...]:
    candidates = []
    for position, entry in enumerate(entries):
        place = f"{file}, {table}[{position}]"
        head = validated(CandidateHead, entry, place)
        problems = list(_unkeepable(entry, ()))
        if problems:
            raise ProblemsError(f"{place} ({head.id}) is not valid:", problems[:_SHOWN_PROBLEMS])
        candidates.append(Candidate(id=head.id, entry=dict(entry), base=base, source=f"{place} ({head.id})"))
    return tuple(candidates)


def _unkeepable(value: Any, place: tuple[str | int, ...]) -> Iterator[str]:
    """Yield what a candidate's entry holds that the run's record, which is JSON, cannot."""
    if len(place) > _DEEPEST_ENTRY:
        yield f"{field_path(place)}: nested deeper than {_DEEPEST_ENTRY} levels; flatten it"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _unkeepable(key, (*place, key))
            yield from _unkeepable(inner, (*place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _unkeepable(inner, (*place, number))
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{field_path(place)}: found {value}, expected a finite number; write one, or leave it out"
    elif isinstance(value, str) and not _is_text(value):
        yield f"{field_path(place)}: found {found(value)}, expected text without lone surrogates; mend it"
    elif not isinstance(value, str | int | float | None):
        kinds = "text, a number, true or false"
        yield f"{field_path(place)}: found {found(value)}, expected {kinds}; put it in quotes"


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checked(campaign: Campaign, name: str) -> Campaign:
    problems = []
    for what, values in (
        ("candidate id", [candidate.id for candidate in campaign.candidates]),
        ("repository label", [entry.label for entry in campaign.repositories]),
    ):
        problems += [
            f"{what}: found {found(value)} {values.count(value)} times, expected it once; rename the others"
            for value in dict.fromkeys(values)
            if values.count(value) > 1
        ]
    ids = [candidate.id for candidate in campaign.candidates]
    if campaign.baseline is not None and campaign.baseline not in ids:
        problems.append(
            f"baseline: found {found(campaign.baseline)}, expected a candidate of this campaign; "
            f"choose from {', '.join(ids)}"
        )
    if problems:
        raise ProblemsError(f"{printable(name)} is not valid:", problems)
    return campaign
