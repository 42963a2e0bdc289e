"""The GitHub action and the GitLab template, executed with the installed command."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from conftest import REPOSITORY

HOME = """
duration = "32 s"
[ap.home]
queue = "fifo"
[ap.home.radio.5g]
[station.laptop]
joins = "home.5g"
signal = "-55 dBm"
workload = "answer"
[station.tablet]
joins = "home.5g"
signal = "-82 dBm"
workload = "download"
[workload.answer]
kind = "probe"
goal = "50 ms"
"""


def lint(schema, file):
    """Checks a file with a schema of check-jsonschema, which has those of GitHub and GitLab."""
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def examples():
    """The YAML examples of the pages about CI."""
    pages = [(REPOSITORY / "docs/how-to" / name).read_text() for name in ("ci.md", "check-a-firmware-patch.md")]
    return [text for page in pages for text in re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)]


def test_the_action_and_the_examples_have_valid_keys(tmp_path):
    lint("vendor.github-actions", REPOSITORY / "integrations/github/action.yml")
    lint("vendor.gitlab-ci", REPOSITORY / "integrations/gitlab/netburn.yml")
    inputs = yaml.safe_load((REPOSITORY / "integrations/github/action.yml").read_text())["inputs"]
    workflows = [text for text in examples() if "runs-on:" in text]
    assert len(workflows) == 2
    for text in workflows:
        (tmp_path / "workflow.yml").write_text(text)
        lint("vendor.github-workflows", tmp_path / "workflow.yml")
        [steps] = [job["steps"] for job in yaml.safe_load(text)["jobs"].values()]
        [action] = [step for step in steps if "integrations/github" in step.get("uses", "")]
        assert action["with"].keys() <= inputs.keys()
    jobs = [text for text in examples() if "extends:" in text]
    assert len(jobs) == 1
    (tmp_path / "job.yml").write_text(jobs[0])
    lint("vendor.gitlab-ci", tmp_path / "job.yml")


@pytest.fixture
def job(tmp_path):
    (tmp_path / "home.toml").write_text(HOME)
    return Job(tmp_path)


class Job:
    """A job of a CI system in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.output, self.summary = folder / "output", folder / "summary"

    def shell(self, script, environment, status=0):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, **environment}
        # As GitHub starts bash.
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def github(self, inputs, status=0):
        """Executes the steps of the action. Returns the standard output of the last one."""
        action = REPOSITORY / "integrations/github/action.yml"
        document = yaml.safe_load(action.read_text())
        required = {name for name, about in document["inputs"].items() if about.get("required")}
        assert required <= inputs.keys() <= document["inputs"].keys()
        values = {name: about.get("default", "") for name, about in document["inputs"].items()} | inputs

        def expanded(text):
            known = {"github.action_path": str(action.parent), **{f"inputs.{name}": value for name, value in values.items()}}
            return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)

        assert document["runs"]["using"] == "composite"
        printed = ""
        for number, step in enumerate(document["runs"]["steps"], 1):
            # The first step changes the machine.
            if "if" in step and step["if"] == "inputs.environment == 'lab'":
                continue
            last = number == len(document["runs"]["steps"])
            environment = {name: expanded(value) for name, value in step.get("env", {}).items()}
            files = {"GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary)}
            printed = self.shell(step["run"], environment | files, status if last else 0)
        return printed


def test_the_github_action_passes_and_writes_results(job):
    job.github({"scenario": "home.toml", "set": "ap.home.queue=airtime\nseed=3\n", "out": "results"})
    assert job.output.read_text() == "result=pass\n"
    results = job.folder / "results"
    assert {path.name for path in results.iterdir()} == {"run", "junit.xml", "summary.md", "status"}
    assert (results / "run/report.html").exists()
    suites = ElementTree.parse(results / "junit.xml").getroot()
    assert int(suites.get("failures")) == 0 and int(suites.get("tests")) >= 2
    summary = job.summary.read_text()
    assert summary == (results / "summary.md").read_text()
    assert summary.startswith("## **pass**") and "| laptop | **pass**" in summary
    # An earlier result of the same job is replaced.
    job.github({"scenario": "home.toml", "out": "results"}, status=1)
    assert job.output.read_text() == "result=pass\nresult=fail\n"
    assert "| laptop | **fail**" in (results / "summary.md").read_text()
    assert int(ElementTree.parse(results / "junit.xml").getroot().get("failures")) >= 1


def test_the_github_action_compares_with_a_baseline(job):
    job.github({"scenario": "home.toml", "set": "ap.home.queue=airtime", "repeat": "5", "out": "before"})
    inputs = {"scenario": "home.toml", "repeat": "5", "baseline": "before/run", "out": "after"}
    same = job.github(inputs | {"set": "ap.home.queue=airtime"})
    worse = job.github(inputs | {"set": "ap.home.queue=fq-mac"}, status=1)
    assert "SAME" in same.upper() and "worse" in worse
    assert "### Compared with the baseline" in job.summary.read_text()


def test_an_inconclusive_run_is_a_warning_on_github(job):
    # No page is finished in this time.
    printed = job.github({"scenario": "home.toml", "set": "duration=0.2 s\nstation.laptop.workload=browsing"})
    assert job.output.read_text() == "result=inconclusive\n"
    assert "::warning title=netburn::no reliable measurement" in printed
    assert (job.folder / "netburn-results/status").read_text() == "3\n"


def test_invalid_input_fails_the_job(job):
    job.github({"scenario": "home.toml", "set": "ap.home.queue=airtme"}, status=2)
    assert job.output.read_text() == "result=fail\n"
    (job.folder / "mine").mkdir()
    (job.folder / "mine/file").touch()
    job.github({"scenario": "home.toml", "out": "mine"}, status=2)
    assert (job.folder / "mine/file").exists()


def test_the_gitlab_template_runs(job):
    template = yaml.safe_load((REPOSITORY / "integrations/gitlab/netburn.yml").read_text())[".netburn"]
    assert template["allow_failure"] == {"exit_codes": 3}
    variables = template["variables"] | {"NETBURN_SOURCE": str(REPOSITORY), "NETBURN_SCENARIO": "home.toml"}
    script = "\n".join([*template["before_script"], *template["script"]])
    job.shell(script, variables | {"NETBURN_SET": "ap.home.queue=airtime"})
    expanded = {path.replace("$NETBURN_OUT", variables["NETBURN_OUT"]) for path in template["artifacts"]["paths"]}
    assert all((job.folder / path).exists() for path in expanded)
    assert template["artifacts"]["reports"]["junit"] == "$NETBURN_OUT/junit.xml"
    job.shell(script, variables, status=1)
