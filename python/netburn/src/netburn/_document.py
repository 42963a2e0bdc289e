"""Objects of the JSON documents, with their fields as attributes."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    Item = TypeVar("Item")
    Verdict = Literal["none", "pass", "marginal", "inconclusive", "fail"]


class Document:
    """An object of a JSON document."""

    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def document(self) -> dict[str, Any]:
        """The object of the JSON document, with all fields."""
        return self._document


class Judged(Document):
    """An object with a verdict."""

    __slots__ = ()

    @property
    def verdict(self) -> Verdict:
        """Verdict: that of the worst goal, "none" without a goal. "inconclusive" for a station with `reasons`."""
        return verdict(self._document)

    @property
    def provisional(self) -> bool:
        """True if there are too few samples to be sure."""
        return bool(self._document["provisional"])


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def verdict(document: dict[str, Any]) -> Verdict:
    found: Verdict = document["verdict"]
    return found


def texts(reasons: list[dict[str, Any]]) -> list[str]:
    return [str(reason["text"]) for reason in reasons]


class _Missing(KeyError):
    """A KeyError whose text is a sentence."""

    def __str__(self) -> str:
        return str(self.args[0])


def item(items: Mapping[str, Item], name: str, kind: str) -> Item:
    try:
        return items[name]
    except KeyError:
        pass
    raise _Missing(f"no {kind} `{name}`; expected one of {', '.join(items)}")
