"""`boresight schema`: the JSON Schema of each file that people write."""

from __future__ import annotations

import argparse
import json

from pydantic import BaseModel

from core.banks.graded import GradedFile
from core.campaign.manifest import CampaignFile, ModelManifest
from core.commands.output import say
from core.errors import Exit, InputError
from core.gating.floors import FloorsFile
from core.repositories import RepositoryManifest

SCHEMAS: dict[str, type[BaseModel]] = {
    "campaign": CampaignFile,
    "floors": FloorsFile,
    "graded": GradedFile,
    "models": ModelManifest,
    "repositories": RepositoryManifest,
}


def schema(arguments: argparse.Namespace) -> int:
    """Print a schema, or the names of all."""
    if arguments.name is None:
        for name in SCHEMAS:
            say(name)
        return Exit.DONE
    model = SCHEMAS.get(arguments.name)
    if model is None:
        raise InputError(f"no schema named {arguments.name!r}; there are: {', '.join(SCHEMAS)}")
    say(json.dumps(model.model_json_schema(), indent=1))
    return Exit.DONE
