"""``visual-search score``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr
from visual_search.counted import counted

SUMMARY = "Score a run against right answers; every measure by its name, ties treated exactly."
EXAMPLE = """\
  visual-search score run.trec qrels.trec nDCG@10 'AP(denominator=min)@100'
  visual-search score run.trec.gz qrels.trec --preset trec_eval --per-query --tsv
  visual-search score run.parquet eval.json HitRate@1 --slices category.tsv --out scores.parquet"""


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
    parser.add_argument(
        "measures", metavar="MEASURE", nargs="*", help="text forms; names of trec_eval are known too"
    )
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
    parser.add_argument("--out", metavar="FILE", help="write the table; .parquet, .json, else tab-separated")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score and print."""
    from visual_search.evaluation.text_table import decimals, text_table
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.score import score_run, tab_separated

    refuse_overwriting(
        {"--out": arguments.out},
        [arguments.run_file, arguments.qrels_file, arguments.slices, arguments.groups],
    )
    scored = score_run(
        arguments.run_file,
        arguments.qrels_file,
        arguments.measures,
        preset=arguments.preset,
        ties=arguments.ties,
        attribute=arguments.slices,
        groups=arguments.groups,
    )
    if arguments.out:
        scored.write(arguments.out, per_query=arguments.per_query)
    rows = scored.table(per_query=arguments.per_query)
    if arguments.json:
        print_json(scored.as_json(per_query=arguments.per_query))
        return 0
    if arguments.tsv:
        print(tab_separated(rows), end="")
    else:
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = [
            [
                decimals(v, 4) if isinstance(v := row.get(name), float) else "-" if v is None else str(v)
                for name in names
            ]
            for row in rows
        ]
        print(text_table(names, cells))
    say = stderr().print
    for note in scored.result.notes:
        say(note, markup=False)
    for text, found in scored.result.items():
        if found.undefined:
            first = ", ".join(map(str, found.undefined_queries[:5]))
            say(
                f"{text}: undefined for {counted(found.undefined, 'query', 'queries')}, first: {first}",
                markup=False,
            )
    return 0
