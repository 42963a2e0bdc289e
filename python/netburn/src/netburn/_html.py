"""Results as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# Sign, text colour and background of words with a meaning: verdicts and judgements. A sign is also readable without colours.
_LOOKS = {
    "pass": ("✓", "#1a5e20", "#e3f4e4"),
    "better": ("✓", "#1a5e20", "#e3f4e4"),
    "marginal": ("~", "#6b4700", "#fff1d0"),
    "inconclusive": ("?", "#6b4700", "#fff1d0"),
    "can't tell": ("?", "#4a4a4a", "#ececec"),
    "same": ("=", "#4a4a4a", "#ececec"),
    "fail": ("✗", "#8c1212", "#fde4e4"),
    "worse": ("✗", "#8c1212", "#fde4e4"),
}


def badge(word: str) -> str:
    """A verdict or a judgement in its colour."""
    if word not in _LOOKS:
        return "" if word == "none" else escape(word)
    sign, ink, paper = _LOOKS[word]
    style = f"color:{ink};background:{paper};padding:0 .4em;border-radius:.3em;white-space:nowrap"
    return f'<span style="{style}">{sign} {escape(word)}</span>'


def number(value: float | None) -> str:
    """A number with three significant digits; a dash for an unknown one."""
    if value is None:
        return "–"
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{decimals}f}"


def percent(share: float | None) -> str:
    """The share of samples that met a goal, as in the reports: rounded down to a tenth, so that only 1 is 100 %."""
    from math import floor

    return "–" if share is None else f"{floor(share * 1000 + 1e-3) / 10:g} %"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. `caption` and `rows` are markup, `head` is text."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<table><caption style="text-align:left">{caption}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    )
