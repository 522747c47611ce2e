"""The page on peers: its forms read as they stand, and what the parity tests compare is on it."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from visual_search import parse_measure

ROOT = Path(__file__).parents[2]
PARITY = ROOT / "tests" / "parity"
PAGE = (ROOT / "docs" / "explanation" / "peers.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| peer", "| ---"))
]


def shared(path: str, name: str = "SHARED") -> Any:
    """What a parity test compares, read without importing it, since its peer may be absent."""
    for node in ast.parse((PARITY / path).read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{path} has no {name}")


def forms_of(peer: str) -> dict[str, str]:
    """Canonical form of every name of a peer that has one."""
    found = {}
    for of_peer, names, here, *_ in ROWS:
        if of_peer == peer and not here.startswith("none"):
            found[names.strip("`")] = here.strip("`")
    return found


def without_ties(form: str) -> str:
    return re.sub(r",?ties=[a-z_]+", "", form).replace("()", "")


def test_every_form_stands_as_it_prints() -> None:
    assert len(ROWS) > 50
    for peer, name, here, *_ in ROWS:
        if here.startswith("none"):
            assert len(here) > len("none; "), f"{peer} {name}: say why there is none"
        else:
            assert str(parse_measure(here.strip("`"))) == here.strip("`"), f"{peer} {name}"


def test_trec_eval_s_names_are_read_so() -> None:
    forms = forms_of("trec_eval")
    for name, form in forms.items():
        assert str(parse_measure(name)) == form
    families = {re.sub(r"_\d+$", "", name) for name in shared("test_trec_eval.py")}
    assert families == {re.sub(r"_\d+$", "", name) for name in forms}


def test_ir_measures_names_are_there() -> None:
    forms = forms_of("ir_measures")
    for name in [*shared("test_ir_measures.py"), *shared("test_ir_measures.py", "OTHER_TIE_RULE")]:
        plain = re.sub(r"\(.*\)|@\d+", "", name)
        form = forms[name] if name in forms else forms[plain if plain in forms else f"{plain}@10"]
        assert parse_measure(name).name == parse_measure(form).name
    assert shared("test_ir_measures.py", "WHOLE_LIST").items() <= forms.items()
    for name in shared("test_ir_measures.py", "OTHER_TIE_RULE"):
        assert "ties=id_asc" in forms[re.sub(r"@\d+", "@10", name)]


@pytest.mark.parametrize(
    ("peer", "path"), [("ranx", "peers/test_ranx.py"), ("pytorch-metric-learning", "peers/test_metric_learning.py")]
)
def test_forms_are_those_compared(peer: str, path: str) -> None:
    forms = forms_of(peer)
    for name, form in shared(path).items():
        assert forms[name] == str(parse_measure(form))


def test_scikit_learn_s_names_are_there() -> None:
    forms = forms_of("scikit-learn")
    wanted = {name: form.replace("@k", "@5") for name, form in shared("test_scikit_learn.py").items()}
    assert {name: without_ties(form) for name, form in forms.items()} == wanted


def test_torchmetrics_forms_are_what_its_preset_makes_of_the_short_ones() -> None:
    from visual_search.evaluation.protocols.presets import preset_named

    preset = preset_named("torchmetrics")
    forms = {re.sub(r"@\d+", "", form) for form in forms_of("torchmetrics").values()}
    for text in shared("peers/test_torchmetrics.py"):
        (measure,) = preset.read([text])
        ties = "" if measure.ties != "call" else f"ties={preset.ties}"
        spelled = re.sub(r"@\d+", "", str(measure))
        if ties:
            spelled = f"{spelled[:-1]},{ties})" if spelled.endswith(")") else f"{spelled}({ties})"
        assert spelled in forms, text
