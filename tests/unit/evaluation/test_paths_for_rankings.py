"""A path where a ranking is due."""

from pathlib import Path
from typing import Any

import pytest

from visual_search import evaluate
from visual_search.errors import InputError


@pytest.mark.parametrize("path", ["run.trec", Path("run.trec")])
def test_a_path_is_answered_with_how_to_read_it(path: Any) -> None:
    with pytest.raises(
        InputError, match=r"ranking is the path 'run\.trec'; read it first: Ranking\.from_trec\(path\)"
    ):
        evaluate(path, {"q": {"a": 1}}, ["RR"])
    with pytest.raises(InputError, match=r"relevance is the path 'run\.trec'; read it first: Relevance\.from_trec"):
        evaluate({"q": {"a": 1.0}}, path, ["RR"])
