"""The shipped contracts where hypothesis is not installed."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["strategies", "measure_contract"])
def test_what_to_install_is_told(module: str) -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from visual_search.errors import MissingDependencyError\n"
        f"try:\n    import visual_search.testing.{module}\n"
        "except MissingDependencyError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'visual-search[test]'" in done.stdout
