"""Finds modules of a crate that refer to each other in a circle. Part of scripts/check-architecture.

What counts:

- A module is a file or an inline `mod name { … }` that is reachable from src/lib.rs or src/main.rs.
- A module refers to another one with a `use` or with a path that begins with `crate`, `self` or `super`. A
  name that a module imports or re-exports refers to the module that defines it. If lib.rs has `pub use
  a::A`, then `crate::A` refers to `a`.
- A module and its descendants are one unit: references between them don't count, in neither direction. A reference
  between two other modules counts for the two siblings that contain them, below their nearest common parent.
- Code behind `#[cfg(test)]` or `#[cfg(feature = …)]` doesn't count: the only feature is `fuzz`.
- A circle is a strongly connected component of two or more siblings.

Macros are not expanded, and glob imports are resolved by the names of items.
"""

import functools
import re
from pathlib import Path

TOKEN = re.compile(
    r"""//[^\n]*|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'|'\w+|[A-Za-z_]\w*|::|\S""",
    re.X | re.S,
)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}
DEFINING = {"fn", "struct", "enum", "trait", "type", "const", "static", "union"}


@functools.cache
def tokens_of(text):
    """The tokens of a file without comments and strings. Cached, because the tests read the same files many times."""
    tokens = (token[0] for token in TOKEN.finditer(COMMENT.sub(" ", text)))
    return [token for token in tokens if not token.startswith(("//", '"', 'b"', 'r#"', 'r"', "br"))]


class Crate:
    """The modules of a crate, each a tuple of names, with what they define, import and refer to."""

    def __init__(self, root):
        self.modules, self.items, self.imports, self.globs, self.references = set(), {}, {}, {}, []
        for name in ("lib.rs", "main.rs"):
            if (root / name).exists():
                self.read(root / name, (), root)

    def read(self, file, module, folder):
        tokens = tokens_of(file.read_text())
        self.enter(tokens, file, module, folder)

    def enter(self, tokens, file, module, folder):
        self.modules.add(module)
        self.items.setdefault(module, set())
        self.imports.setdefault(module, {})
        self.globs.setdefault(module, [])
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if token == "#" and tokens[i + 1 : i + 2] in (["["], ["!"]):
                end = matching(tokens, tokens.index("[", i))
                attribute = tokens[i:end]
                i = end
                if is_test(attribute):
                    i = end_of_item(tokens, i)
            elif token == "mod" and tokens[i + 2 : i + 3] == [";"]:
                self.declared(tokens[i + 1], module, folder)
                i += 3
            elif token == "mod" and tokens[i + 2 : i + 3] == ["{"]:
                end = matching(tokens, i + 2)
                self.enter(tokens[i + 3 : end - 1], file, (*module, tokens[i + 1]), folder / tokens[i + 1])
                i = end
            elif token == "use" and tokens[i + 1] not in ("<", ","):
                end = tokens.index(";", i)
                for path, name in use_tree(tokens[i + 1 : end]):
                    self.references.append((module, path, file))
                    if name == "*":
                        self.globs[module].append(path)
                    else:
                        self.imports[module].setdefault(name, path)
                i = end
            elif token in ("crate", "self", "super") and tokens[i + 1 : i + 2] == ["::"]:
                path = [token]
                while tokens[i + 1 : i + 2] == ["::"] and re.match(r"\w", tokens[i + 2]):
                    path.append(tokens[i + 2])
                    i += 2
                self.references.append((module, path, file))
                i += 1
            else:
                if token in DEFINING and i + 1 < len(tokens):
                    self.items[module].add(tokens[i + 1])
                i += 1

    def declared(self, name, module, folder):
        for file in (folder / f"{name}.rs", folder / name / "mod.rs"):
            if file.exists():
                self.read(file, (*module, name), folder / name)

    def resolve(self, module, path, seen=()):
        """The module that a path leads to, and whether it is the module itself rather than an item of it. None: elsewhere."""
        if (module, tuple(path)) in seen:
            return None
        seen = (*seen, (module, tuple(path)))
        place, rest = module, list(path)
        if rest[0] in ("crate", "self", "super"):
            place = () if rest[0] == "crate" else module
            while rest and rest[0] in ("crate", "self", "super"):
                place = place[:-1] if rest[0] == "super" else place
                rest = rest[1:]
        elif (*module, rest[0]) not in self.modules and rest[0] not in self.imports[module]:
            return None
        for n, name in enumerate(rest):
            if (*place, name) in self.modules:
                place = (*place, name)
                continue
            found = self.named(place, name, seen)
            if found is None:
                return place, False
            place, whole = found
            if not whole:
                return place, False
        return place, True

    def named(self, module, name, seen):
        """What an imported name of a module is."""
        if name in self.imports.get(module, {}):
            return self.resolve(module, self.imports[module][name], seen)
        if name in self.items.get(module, ()):
            return None
        for path in self.globs.get(module, ()):
            found = self.resolve(module, path, seen)
            if found and found[1]:
                if (*found[0], name) in self.modules:
                    return (*found[0], name), True
                if name in self.items[found[0]]:
                    return found[0], False
                if further := self.named(found[0], name, seen):
                    return further
        return None

    def edges(self):
        """For each parent: the references between its children, each with a file that has it."""
        edges = {}
        for module, path, file in self.references:
            found = self.resolve(module, path)
            if not found:
                continue
            target, common = found[0], 0
            while common < min(len(module), len(target)) and module[common] == target[common]:
                common += 1
            if common < min(len(module), len(target)):
                parent = module[:common]
                edges.setdefault(parent, {}).setdefault((module[common], target[common]), file)
        return edges

    def cycles(self):
        """Each circle: the parent, its children in the circle, and the references between them."""
        for parent, edges in sorted(self.edges().items()):
            for group in components(edges):
                if len(group) > 1:
                    yield parent, group, {edge: file for edge, file in edges.items() if set(edge) <= group}


def use_tree(tokens, prefix=()):
    """The paths of a `use`, each with the name that it imports."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token == "{") - (token == "}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    for part in filter(None, parts):
        path = list(prefix)
        i = 0
        while i < len(part) and part[i] not in ("{", "as", "*"):
            if part[i] != "::":
                path.append(part[i])
            i += 1
        if i < len(part) and part[i] == "{":
            yield from use_tree(part[i + 1 : -1], path)
            continue
        if path[-1] == "self" and len(path) > 1:
            path.pop()
        if i < len(part) and part[i] == "*":
            yield path, "*"
        elif i < len(part):
            yield path, part[i + 1]
        else:
            yield path, path[-1]


def is_test(attribute):
    """Whether an attribute excludes an item from the release. Strings are no tokens, so features have no names here."""
    names = set(attribute)
    return "cfg" in names and bool(names & {"test", "feature"}) and not names & {"not", "any"}


def end_of_item(tokens, i):
    """The end of the item that begins at `i`: behind its `;` or its block."""
    while tokens[i] == "#":
        i = matching(tokens, i + 1)
    while i < len(tokens):
        if tokens[i] == ";" or tokens[i] == ",":
            return i + 1
        if tokens[i] in OPENING:
            end = matching(tokens, i)
            if tokens[i] == "{" and tokens[end : end + 1] != [";"]:
                return end
            i = end
        elif tokens[i] in CLOSING:
            return i
        else:
            i += 1
    return i


def matching(tokens, i):
    """The end of the brackets that begin at `i`."""
    depth = 0
    for at in range(i, len(tokens)):
        depth += (tokens[at] in OPENING) - (tokens[at] in CLOSING)
        if depth == 0:
            return at + 1
    return len(tokens)


def components(edges):
    """The strongly connected components of a graph: sets of names."""
    after = {}
    for one, other in edges:
        after.setdefault(one, set()).add(other)
        after.setdefault(other, set())

    def reachable(start):
        seen, todo = set(), [start]
        while todo:
            for name in after[todo.pop()] - seen:
                seen.add(name)
                todo.append(name)
        return seen

    reach = {name: reachable(name) for name in after}
    groups = {frozenset({name} | {other for other in reach[name] if name in reach[other]}) for name in after}
    return sorted(groups, key=sorted)
