"""The examples of the pages and notebooks print what they show."""

import ast
import doctest
import io
import json
import os
import re
from contextlib import redirect_stdout

import pytest
from conftest import COMMAND, REPOSITORY

PAGE = REPOSITORY / "docs/how-to/python.md"
NOTEBOOKS = [REPOSITORY / "docs" / name for name in ("tutorials/5-notebook.ipynb", "how-to/gallery.ipynb")]


def test_the_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # In an activated environment, its programs come first.
    monkeypatch.setenv("PATH", f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) >= 7
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names, report = {}, io.StringIO()
    for block in blocks:
        test = parser.get_doctest(block, names, str(PAGE), str(PAGE), 0)
        assert test.examples
        runner.run(test, out=report.write, clear_globs=False)
        # Later blocks use the names of earlier ones.
        names = test.globs
    assert runner.failures == 0, report.getvalue()


def run_cell(source, names):
    """Runs a cell. Returns what it prints, and the value of its last expression, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def outputs(printed, value, number):
    """The outputs of a cell in the format of notebooks. Pictures are not stored."""
    found = []
    if printed:
        found.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)})
    if value is not None and not type(value).__module__.startswith("matplotlib"):
        text = repr(value).splitlines(keepends=True)
        data = {"text/plain": text}
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_its_outputs(path, tmp_path, monkeypatch):
    """Run with NETBURN_REGENERATE=1 to write the outputs again."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {}
    different = []
    for number, cell in enumerate(cells, 1):
        printed, value = run_cell("".join(cell["source"]), names)
        found = outputs(printed, value, number)
        if found != cell["outputs"] or cell["execution_count"] != number:
            different.append((number, found, cell["outputs"]))
            cell["outputs"], cell["execution_count"] = found, number
        for figure in map(plt.figure, plt.get_fignums()):
            # Each picture has something to see.
            assert any(axes.has_data() for axes in figure.axes)
            assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)
        plt.close("all")
    assert len(cells) >= 4
    if os.environ.get("NETBURN_REGENERATE"):
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
    assert different == [], "write the notebook again with NETBURN_REGENERATE=1"
