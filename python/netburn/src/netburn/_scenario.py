"""Scenarios."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from . import _values
from ._runtime import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Environment = Literal["simulate", "lab", "local", "fleet"]


class Scenario:
    """A scenario with its changes. It does not change: `with_changes` returns another one."""

    __slots__ = ("_changes", "_native", "_text")

    def __init__(
        self, of: native.Scenario, text: str | None = None, changes: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._native = of
        self._text = text
        self._changes = tuple(changes)

    @property
    def origin(self) -> str:
        """Path of the file, or name of the built-in scenario."""
        return self._native.origin

    def with_changes(self, changes: Mapping[str, _values.Value]) -> Scenario:
        """Returns the scenario with changes.

        A key is a dotted path such as "station.tv.signal". `*` matches names: "station.*.tsq" is a key of every
        station. A str is read as `--set` of the command reads it: "airtime", "-62 dBm". Later changes win.

        Raises ScenarioError for a key that is unknown. The values are checked when the scenario is used.
        """
        changed = [(key, _values.text(value)) for key, value in changes.items()]
        return Scenario(self._native.with_changes(changed), self._text, [*self._changes, *changed])

    def plan(self, environment: Environment = "simulate") -> dict[str, Any]:
        """Returns the plan: the scenario with all defaults, as `netburn plan --format json` prints it.

        Raises ScenarioError if the scenario is invalid, or lacks keys that the environment needs.
        """
        import json

        document, _ = self._native.plan(environment)
        plan: dict[str, Any] = json.loads(document)
        return plan

    def describe(self, environment: Environment = "simulate") -> str:
        """Returns the plan as text, as `netburn plan` prints it."""
        return "\n".join(self._native.describe(environment))

    def _arguments(self, folder: str | os.PathLike[str]) -> list[str]:
        """Arguments with which the command loads this scenario. A text becomes a file in `folder`."""
        origin = self.origin
        if self._text is not None:
            origin = os.path.join(folder, origin)
            with open(origin, "w", encoding="utf-8") as file:
                file.write(self._text)
        changes = (argument for key, value in self._changes for argument in ("--set", f"{key}={value}"))
        return [origin, *changes]

    def __repr__(self) -> str:
        return f"<Scenario {self.origin}>"


def scenario(name_or_path: str | os.PathLike[str], changes: Mapping[str, _values.Value] | None = None) -> Scenario:
    """Loads the file with this path, else the built-in scenario with this name, applies changes, and checks the result.

    `changes`: as for `Scenario.with_changes`.

    Raises ScenarioError if neither exists, if the file is not valid TOML, or if a key or a value is invalid. Keys that
    only an environment needs, such as a signal for the simulator, are checked when the scenario is used.
    """
    loaded = Scenario(native.load(os.fspath(name_or_path)))
    loaded = loaded.with_changes(changes) if changes else loaded
    loaded._native.check()
    return loaded


def parse_scenario(text: str, changes: Mapping[str, _values.Value] | None = None) -> Scenario:
    """Reads a scenario from TOML, and applies changes. Errors show it as `scenario.toml`.

    Raises ScenarioError as `scenario` does.
    """
    parsed = Scenario(native.parse(text, "scenario.toml"), text)
    parsed = parsed.with_changes(changes) if changes else parsed
    parsed._native.check()
    return parsed


def built_in_scenarios() -> list[str]:
    """Returns the names of the built-in scenarios."""
    return native.built_in()
