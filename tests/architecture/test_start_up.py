"""Importing the package and asking for help load nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = {
    "faiss", "matplotlib", "onnxruntime", "open_clip", "pandas", "plotly", "polars", "pyarrow", "scipy",
    "sentence_transformers", "sklearn", "timm", "torch", "transformers",
}  # fmt: skip


def modules_after(code: str) -> set[str]:
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules, file=sys.stderr)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name.partition(".")[0] for name in ended.stderr.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import visual_search",
        "import visual_search as vs; vs.Ranking, vs.Relevance, vs.evaluate, vs.parse_measure",
        "from visual_search.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass",
    ],
    ids=["import", "names", "help"],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert modules_after(code) & HEAVY == set()


def test_help_does_not_even_load_numpy() -> None:
    code = "from visual_search.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert "numpy" not in modules_after(code)
