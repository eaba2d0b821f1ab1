"""Command lines with placeholders: `{query}` and the like are replaced inside a word, never across words.

No shell is involved: whatever a query holds, it stays within the one word that its placeholder stands in.
A literal brace is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import ProblemsError
from core.retrievers.protocol import Place
from core.text import printable
from core.validation import nearest

QUERY, LIMIT, CHANNEL = "query", "limit", "channel"
REPOSITORY, STATE, MANIFEST = "repository", "state", "manifest"

PLACES = (REPOSITORY, STATE, MANIFEST)
QUESTIONS = (*PLACES, QUERY, LIMIT, CHANNEL)

Part = tuple[str, bool]  # text, and whether it names a placeholder


class Word(NamedTuple):
    """One word of a template, taken apart."""

    parts: tuple[Part, ...]

    def names(self, placeholder: str) -> bool:
        """Whether it holds a placeholder."""
        return (placeholder, True) in self.parts

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the word with its placeholders replaced; what stands in their values is left as it is."""
        return "".join(values[text] if is_name else text for text, is_name in self.parts)


class Template(NamedTuple):
    """A command's words."""

    words: tuple[Word, ...]

    def names(self, placeholder: str) -> bool:
        """Whether any word holds a placeholder."""
        return any(word.names(placeholder) for word in self.words)

    def filled(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command's words."""
        return tuple(word.filled(values) for word in self.words)


def place_values(place: Place, base: Path) -> dict[str, str]:
    """Return what the placeholders of places stand for in a cell."""
    return {REPOSITORY: str(place.repository), STATE: str(place.state), MANIFEST: str(base)}


def parse_template(words: Sequence[str], known: Sequence[str], field: str) -> Template:
    """Take a command apart; raises ProblemsError that names each word with an unknown placeholder."""
    problems = []
    parsed = []
    for number, word in enumerate(words):
        place = f"{field}[{number}]"
        if "\0" in word:
            problems.append(f"{place}: holds a NUL, which no word of a command can; take it out")
        try:
            parsed.append(parse_word(word, known, place))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(f"{field} is not valid:", problems)
    return Template(tuple(parsed))


def parse_word(word: str, known: Sequence[str], field: str) -> Word:
    """Take one word apart; raises ProblemsError."""
    return Word(tuple(_parts(word, known, field)))


def _parts(word: str, known: Sequence[str], field: str) -> Iterator[Part]:
    position = 0
    while position < len(word):
        opening = _next_brace(word, position)
        if opening > position:
            yield word[position:opening], False
        if opening == len(word):
            return
        brace = word[opening]
        if word[opening : opening + 2] == 2 * brace:
            yield brace, False
            position = opening + 2
            continue
        closing = word.find("}", opening)
        if brace == "}" or closing < 0:
            raise _problem(
                field, f"found a single {brace} in {printable(word, 60)!r}; write {2 * brace} for a brace"
            )
        name = word[opening + 1 : closing]
        if name not in known:
            raise _problem(field, _unknown(name, known))
        yield name, True
        position = closing + 1


def _next_brace(word: str, start: int) -> int:
    found = [at for brace in "{}" if (at := word.find(brace, start)) >= 0]
    return min(found, default=len(word))


def _unknown(name: str, known: Sequence[str]) -> str:
    close = nearest(name, known)
    listed = ", ".join(f"{{{each}}}" for each in known)
    advice = f"did you mean {{{close}}}?" if close else f"expected one of {listed}"
    return f"found the placeholder {{{printable(name, 40)}}}, {advice} (a literal brace is written twice)"


def _problem(field: str, sentence: str) -> ProblemsError:
    return ProblemsError(f"{field} is not valid:", [f"{field}: {sentence}"])
