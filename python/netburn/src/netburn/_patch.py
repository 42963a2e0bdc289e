"""Differences between two JSON documents that are mostly equal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    Path = list[Union[str, int]]
    Patch = list[tuple[Path, Any]]
    """Places with their new values."""


def difference(base: Any, other: Any) -> Patch:
    """Returns the changes that make `other` of `base`.

    The order of the keys of an object is kept: objects with other keys, or with the same keys in another order, are
    replaced as a whole.
    """
    if base == other and _ordered(base) == _ordered(other):
        return []
    if isinstance(base, dict) and isinstance(other, dict) and list(base) == list(other):
        children = [(key, base[key], other[key]) for key in base]
    elif isinstance(base, list) and isinstance(other, list) and len(base) == len(other):
        children = [(place, one, two) for place, (one, two) in enumerate(zip(base, other))]
    else:
        return [([], other)]
    return [([key, *path], value) for key, one, two in children for path, value in difference(one, two)]


def apply(patch: Patch, base: Any) -> Any:
    """Returns `base` with the changes. `base` does not change."""
    changed = base
    for path, value in patch:
        changed = _replaced(changed, path, value)
    return changed


def _replaced(document: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    copy = document.copy()
    copy[path[0]] = _replaced(document[path[0]], path[1:], value)
    return copy


def _ordered(document: Any) -> Any:
    """The document with its numbers' types and the order of its keys, which `==` ignores."""
    if isinstance(document, dict):
        return [(key, _ordered(value)) for key, value in document.items()]
    if isinstance(document, list):
        return [_ordered(value) for value in document]
    return type(document), document
