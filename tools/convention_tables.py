"""Writes the tables of docs/explanation/conventions from the code; a test holds the pages to them.

``python tools/convention_tables.py`` renews every page. A page holds its tables between marks::

    <!-- table: parameters AP -->
    <!-- end of table -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from visual_search import Ranking, Relevance, evaluate, parse_measure
from visual_search.evaluation.measures.aliases import FAMILY_ALIASES, TREC_CUT, TREC_WHOLE
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.measures.parameters import declared, number_text
from visual_search.evaluation.measures.registry import BUILT_IN, measure_class
from visual_search.evaluation.protocols.presets import PRESETS
from visual_search.evaluation.ties import TIE_RULES, TIE_WORDS

PAGES = Path(__file__).parents[1] / "docs" / "explanation" / "conventions"
_MARKED = re.compile(r"(<!-- table: (?P<name>.*?) -->\n).*?(<!-- end of table -->)", re.DOTALL)

# One form of every family and of every choice that makes another formula.
FORMS = (
    "HitRate@10",
    "Recall(denominator=all)@10",
    "Recall(denominator=min)@10",
    "Recall(average=micro)@10",
    "Precision(denominator=k)@10",
    "Precision(denominator=retrieved)@10",
    "Precision(denominator=last)@10",
    "RPrecision",
    "F1@10",
    "AP(denominator=all)",
    "AP(denominator=min)@10",
    "AP(denominator=found)@10",
    "AP(denominator=all)@R",
    "AP(cut=relevant)@10",
    "AP(interpolation=trapezoid)",
    "RR",
    "FirstRank",
    "INP",
    "DCG@10",
    "nDCG(gain=linear)@10",
    "nDCG(gain=exponential)@10",
    "ERR(max_grade=3)@10",
    "RBP(p=0.8)",
    "Bpref",
    "Judged@10",
    "NeighborRecall(ties=exact)@10",
    "NeighborRecall(truth=1,ties=exact)@10",
    "LowNeighborRecall(below=0.9)@10",
    "DistanceRatio@10",
)

# The run of the examples: b and c tie, and so do d, e and f; b has grade 1, e 3, c is judged not relevant, z (grade 1)
# was not found.
RUN = {"q": {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.2, "e": 0.2, "f": 0.2}}
GRADES = {"q": {"b": 1, "c": 0, "e": 3, "z": 1}}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def _code(text: object) -> str:
    return f"`{text}`"


def families() -> str:
    """All measures: text form, words, what an empty query is, range."""
    rows = []
    for form in FORMS:
        measure = parse_measure(form)
        low, high = measure.bounds
        empty = {"undefined": "undefined", "zero": "0, counted", "counted": "counted"}[measure.on_empty]
        if isinstance(measure, NeighborMeasure):
            empty = "n/a"
        upper = "no bound" if high == float("inf") else number_text(high)
        rows.append([_code(measure), measure.words, empty, f"{number_text(low)} to {upper}"])
    return _table(["measure", "value for one query", "R = 0", "range"], rows)


def parameters(*names: str) -> str:
    """Every parameter of some families."""
    rows = []
    for name in names:
        family: type[Measure] = measure_class(name)
        shared = declared(Measure)
        for key, (field, parameter) in declared(family).items():
            own = name == "FirstRank" or issubclass(family, NeighborMeasure)
            if key == "empty" or (key in shared and not own):
                continue
            # Measures of an index give ties a meaning of their own.
            if key == "ties" and (not issubclass(family, NeighborMeasure) or len(parameter.choices) == 1):
                continue
            default = "none" if field.default is None else _code(field.default)
            default = "must be given" if parameter.required else default
            rows.append([_code(name), _code(key), parameter.allowed(), default, parameter.about])
    return _table(["family", "parameter", "allowed", "default", "what it says"], rows)


def shared_parameters() -> str:
    """The parameters every family has."""
    rows = [
        [_code(key), parameter.allowed(), _code(field.default), parameter.about]
        for key, (field, parameter) in declared(Measure).items()
    ]
    return _table(["parameter", "allowed", "default", "what it says"], rows)


def averages() -> str:
    """Which averages each family allows."""
    rows = [[_code(name), ", ".join(measure_class(name).averages)] for name in BUILT_IN]
    return _table(["family", "average"], rows)


def example(*forms: str) -> str:
    """Values of the example run under every tie rule."""
    ranking, relevance = Ranking.from_dict(RUN), Relevance.from_dict(GRADES)
    rows = []
    for form in forms:
        values = [evaluate(ranking, relevance, [form], ties=ties)[form].mean for ties in TIE_RULES]
        rows.append([_code(parse_measure(form)), *(f"{value:.4f}" for value in values)])
    return _table(["measure", *map(_code, TIE_RULES)], rows)


def tie_rules() -> str:
    """What each tie rule does."""
    return _table(["`ties=`", "what is done"], [[_code(rule), TIE_WORDS[rule]] for rule in TIE_RULES])


def presets() -> str:
    """Every preset's rules."""
    rows = [
        [
            _code(preset.name),
            preset.used_by,
            ", ".join(_code(form.replace("{k}", "k").replace("{max_k}", "max k")) for form in preset.measures),
            ", ".join(map(str, preset.k_values)),
            _code(preset.ties),
            preset.empty,
            preset.missing,
            preset.lists,
            preset.exclusions,
        ]
        for preset in PRESETS.values()
    ]
    header = ["preset", "used by", "measures", "k", "ties", "R = 0", "missing query", "scores", "to be ignored"]
    return _table(header, rows)


def preset_reasons() -> str:
    """Every preset's sentence."""
    return _table(
        ["preset", "why its numbers are what they are"], [[_code(p.name), p.why] for p in PRESETS.values()]
    )


def trec_names() -> str:
    """trec_eval's names and what they read as."""
    names = {**TREC_WHOLE, **{f"{name}_10": f"{form}@10" for name, form in TREC_CUT.items()}}
    return _table(["trec_eval", "reads as"], [[_code(name), _code(parse_measure(name))] for name in names])


def other_names() -> str:
    """Other names of families."""
    return _table(
        ["also called", "here"], [[_code(name), _code(family)] for name, family in FAMILY_ALIASES.items()]
    )


TABLES: dict[str, Callable[..., str]] = {
    "families": families,
    "parameters": parameters,
    "shared parameters": shared_parameters,
    "averages": averages,
    "example": example,
    "tie rules": tie_rules,
    "presets": presets,
    "preset reasons": preset_reasons,
    "trec names": trec_names,
    "other names": other_names,
}


def made(name: str) -> str:
    """The table of a mark: its kind, then what it is of."""
    kind = next(
        kind for kind in sorted(TABLES, key=len, reverse=True) if name == kind or name.startswith(f"{kind} ")
    )
    return TABLES[kind](*name.removeprefix(kind).split())


def renewed(page: str) -> str:
    """The page with every marked table as the code has it."""
    return _MARKED.sub(lambda mark: f"{mark[1]}\n{made(mark['name'])}\n{mark[3]}", page)


def main() -> None:
    """Renew every page."""
    for path in sorted(PAGES.glob("*.md")):
        old = path.read_text("utf-8")
        new = renewed(old)
        if new != old:
            path.write_text(new, "utf-8")
            print(f"renewed {path.name}")


if __name__ == "__main__":
    main()
