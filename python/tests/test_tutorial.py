"""The tutorial that tests a web service over bad Wi-Fi: its programs behave as the page says."""

import re
import subprocess
import sys

from conftest import REPOSITORY

PAGE = REPOSITORY / "docs/tutorials/6-test-a-web-service.md"


def test_the_web_service_of_the_tutorial(tmp_path):
    service, client, test, ping, corrected, airtime = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)

    def pytest(*, client, tests):
        (tmp_path / "menu.py").write_text(service)
        (tmp_path / "client.py").write_text(client)
        (tmp_path / "test_menu.py").write_text(tests)
        words = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_menu.py"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    status, output = pytest(client=client, tests=test + "\n\n" + ping)
    assert status == 1 and "1 failed, 1 passed" in output, output
    assert "> assert time.monotonic() - began < 2" in re.sub(" +", " ", output), output
    mean_ms = float(re.search(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/", output)[1])
    assert 100 < mean_ms < 1000
    # The last lines of the client are replaced.
    start, loop = client.split("for number in")[0], corrected
    status, output = pytest(client=start + loop, tests=test)
    assert status == 0 and "1 passed" in output, output
    # With airtime fairness the first client passes too.
    name, change, _ = airtime.splitlines()
    body = test.split("def test_")[1].splitlines()[1:]
    status, output = pytest(client=client, tests=test.split("def test_")[0] + "\n".join([name, change, *body]) + "\n")
    assert status == 0 and "1 passed" in output, output
