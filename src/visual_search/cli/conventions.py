"""``visual-search conventions``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, add_measures, print_json

SUMMARY = "The same run under every field's rules, with the sentence that explains each difference."
EXAMPLE = """\
  visual-search conventions run.trec qrels.trec
  visual-search conventions run.trec qrels.trec --preset guide deephash --k 100
  visual-search conventions run.trec qrels.trec AP --reported 0.6424
  visual-search conventions --list"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run_file", metavar="RUN", nargs="?", help="as for 'visual-search score'")
    parser.add_argument("qrels_file", metavar="QRELS", nargs="?", help="as for 'visual-search score'")
    add_measures(
        parser, "only the forms of these families, at these depths, as in AP or nDCG@10; all where left out"
    )
    parser.add_argument(
        "--reported",
        metavar="VALUE",
        default=None,
        help="a published value, as printed: mark the rows that round to it",
    )
    parser.add_argument("--preset", nargs="+", default=None, metavar="NAME", help="only these")
    parser.add_argument(
        "-k", "--k", nargs="+", type=int, default=None, metavar="K", help="depths; each field's own if left out"
    )
    parser.add_argument("--list", action="store_true", help="list the presets, and stop")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate under all rules and print them side by side."""
    import textwrap

    from visual_search.errors import InputError
    from visual_search.evaluation.measures.parsing import parse_measures
    from visual_search.evaluation.protocols.presets import PRESETS, preset_named
    from visual_search.evaluation.text_table import decimals, text_table
    from visual_search.workflows.conventions import of_families, rounding_to, side_by_side

    if arguments.list:
        if arguments.json:
            print_json({name: preset.why for name, preset in PRESETS.items()})
        else:
            print("\n".join(f"{name:<22} {preset.used_by}" for name, preset in PRESETS.items()))
        return 0
    if arguments.run_file is None or arguments.qrels_file is None:
        raise InputError("RUN and QRELS are needed: visual-search conventions run.trec qrels.trec")
    named = parse_measures([*arguments.measures, *arguments.measure])
    depths = arguments.k or sorted({one.depth for one in named if isinstance(one.depth, int)}) or None
    results = side_by_side(arguments.run_file, arguments.qrels_file, arguments.preset, k_values=depths)
    results = of_families(results, {one.name for one in named})
    matches = None if arguments.reported is None else rounding_to(arguments.reported)
    if arguments.json:
        told = {name: {**result.as_json(), "why": preset_named(name).why} for name, result in results.items()}
        if matches is not None:
            for name, result in results.items():
                told[name]["reported"] = [text for text, found in result.items() if matches(found.mean)]
        print_json(told)
        return 0
    rows = [
        [
            name,
            text,
            decimals(found.mean, 4),
            str(found.counted),
            str(found.undefined),
            preset_named(name).ties,
            f"= {arguments.reported}" if matches is not None and matches(found.mean) else "",
        ]
        for name, result in results.items()
        for text, found in result.items()
    ]
    print(text_table(["rules of", "measure", "mean", "counted", "left out", "ties", "reported"], rows))
    if matches is not None and not any(row[-1] for row in rows):
        print(f"no row rounds to {arguments.reported}")
    print()
    for name in results:
        print(textwrap.fill(f"{name}: {preset_named(name).why}", 100, subsequent_indent="    "))
    return 0
