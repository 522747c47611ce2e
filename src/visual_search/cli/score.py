"""``visual-search score``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from visual_search.cli.options import add_json, add_measures, print_json, stderr
from visual_search.counted import counted
from visual_search.undefined import none_if_nan

if TYPE_CHECKING:
    from visual_search.workflows.score import Scored

SUMMARY = "Score a run against right answers; every measure by its name, ties treated exactly."
EXAMPLE = """\
  visual-search score run.trec qrels.trec nDCG@10 'AP(denominator=min)@100'
  visual-search score run.trec.gz qrels.trec --preset trec_eval --per-query --tsv
  visual-search score run.parquet eval.json HitRate@1 --slices category.tsv --out scores.parquet
  visual-search score new.trec qrels.trec nDCG@10 --out new.json && visual-search compare old.json new.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "run_file", metavar="RUN", help="TREC run (also .gz), Parquet, or JSON {query: {item: score}}"
    )
    parser.add_argument(
        "qrels_file",
        metavar="QRELS",
        help="TREC qrels (also .gz), Parquet, a dataset's JSON, or {query: {item: grade}}",
    )
    add_measures(parser, "text forms; names of trec_eval are known too")
    parser.add_argument("--preset", default=None, help="a field's rules; see 'visual-search conventions'")
    parser.add_argument(
        "--ties",
        default=None,
        choices=["expected", "best", "worst", "listed", "id_desc", "id_asc"],
        help="what is done with equal scores; the preset's rule, or the exact expectation, where left out",
    )
    parser.add_argument("--per-query", action="store_true", help="a row a query")
    parser.add_argument("--slices", metavar="FILE", help="table of query and value: results for each value as well")
    parser.add_argument("--groups", metavar="FILE", help="table of query and group: intervals over groups")
    parser.add_argument("--tsv", action="store_true", help="print the table tab-separated, at full precision")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=".json: write a result for 'compare', 'gate' and 'report'; .parquet, else tab-separated: the table",
    )
    parser.add_argument("--model-name", default=None, help="name in the result; the run file's where left out")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score and print."""
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.score import score_run, tab_separated

    refuse_overwriting(
        {"--out": arguments.out},
        [arguments.run_file, arguments.qrels_file, arguments.slices, arguments.groups],
    )
    scored = score_run(
        arguments.run_file,
        arguments.qrels_file,
        [*arguments.measures, *arguments.measure],
        preset=arguments.preset,
        ties=arguments.ties,
        attribute=arguments.slices,
        groups=arguments.groups,
        name=arguments.model_name,
    )
    if arguments.out:
        scored.write(arguments.out, per_query=arguments.per_query)
    if arguments.json:
        print_json(scored.as_json(per_query=arguments.per_query))
        return 0
    rows = scored.table(per_query=arguments.per_query)
    if arguments.tsv:
        print(tab_separated(rows), end="")
    elif not arguments.out:
        _print_table(rows, scored, per_query=arguments.per_query)
    _say(scored)
    if arguments.out:
        stderr().print(f"written: {arguments.out}", markup=False)
    return 0


def _print_table(rows: list[dict[str, Any]], scored: Scored, *, per_query: bool) -> None:
    from visual_search.evaluation.statistics.agreement import MARK, agreement_note
    from visual_search.evaluation.text_table import decimals, text_table

    if per_query:
        means = {text: found.mean for text, found in scored.result.items()}
        rows = [*rows, {"query": "mean", **{text: none_if_nan(mean) for text, mean in means.items()}}]
    names = list(dict.fromkeys(name for row in rows for name in row))

    def cell(row: dict[str, Any], name: str) -> str:
        value = row.get(name)
        text = decimals(value, 4) if isinstance(value, float) else "-" if value is None else str(value)
        flat = name == "high" and value is not None and value == row.get("low")
        return f"{text}{MARK}" if flat else text

    print(text_table(names, [[cell(row, name) for name in names] for row in rows]))
    note = None if per_query else agreement_note(found.interval for found in scored.result.values())
    if note is not None:
        print(note)


def _say(scored: Scored) -> None:
    say = stderr().print
    for note in scored.result.notes:
        if "no judged item is in any list" in note:
            say(f"warning: {note}", markup=False, style="bold")
        else:
            say(f"note: {note}", markup=False)
    for text, found in scored.result.items():
        if found.undefined:
            first = ", ".join(map(str, found.undefined_queries[:5]))
            say(
                f"note: {text}: undefined for {counted(found.undefined, 'query', 'queries')}, first: {first}",
                markup=False,
            )
