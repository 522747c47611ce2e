"""``visual-search codes``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = "Measure binary codes, or embeddings hashed here, by the labels their items share; ties treated exactly."
EXAMPLE = """\
  visual-search codes query_codes.npy gallery_codes.npy --query-labels ql.npy --gallery-labels gl.csv
  visual-search codes images.npy texts.npy --query-labels il.npy --gallery-labels tl.npy --both --page codes.html
  visual-search codes vectors.npy --query-labels labels.csv --hash itq --bits 32 64 128 --page codes.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "queries", metavar="QUERIES", help=".npy of codes (0/1, -1/1, bool), or of embeddings with --hash"
    )
    parser.add_argument(
        "gallery",
        metavar="GALLERY",
        nargs="?",
        help="the same of the gallery; left out, each query searches the others",
    )
    parser.add_argument(
        "--query-labels",
        metavar="FILE",
        required=True,
        help=".npy of classes or multi-hot rows; or CSV with a header, one column of classes or one of 0 and 1 a label",
    )
    parser.add_argument("--gallery-labels", metavar="FILE", help="the same of the gallery")
    parser.add_argument(
        "--measures", nargs="+", default=[], metavar="MEASURE", help="text forms; a usual set if left out"
    )
    parser.add_argument(
        "-k", "--k", nargs="+", type=int, metavar="K", help="depths of the presets; each field's own if left out"
    )
    parser.add_argument(
        "--hash", choices=["sign", "median", "itq"], help="make codes of embeddings, learnt from the gallery"
    )
    parser.add_argument("--bits", nargs="+", type=int, default=[], metavar="N", help="lengths of code to make")
    parser.add_argument("--packed", action="store_true", help="codes are uint8, eight bits a byte")
    parser.add_argument(
        "--zeros",
        choices=["refuse", "one", "zero"],
        help="what a 0 among -1 and 1 is (left out: refuse), or with --hash a number at its threshold (left out: zero)",
    )
    parser.add_argument(
        "--empty-ball",
        choices=["undefined", "zero"],
        default="undefined",
        help="what the precision within a radius is where nothing is within it",
    )
    parser.add_argument("--both", action="store_true", help="the gallery asks for the queries too")
    parser.add_argument("--page", metavar="FILE", help="write one HTML page with the curves")
    parser.add_argument("--out", metavar="FILE", help="write everything as JSON, the curves too")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print and write."""
    import json

    from visual_search.evaluation.text_table import decimals, text_table
    from visual_search.formats.atomic import write_text
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.codes import CodeFiles, evaluate_code_files, write_code_pages

    refuse_overwriting(
        {"--out": arguments.out, "--page": arguments.page},
        [arguments.queries, arguments.gallery, arguments.query_labels, arguments.gallery_labels],
    )
    found = evaluate_code_files(
        CodeFiles(arguments.queries, arguments.query_labels, arguments.gallery, arguments.gallery_labels),
        arguments.measures,
        hashing=arguments.hash,
        bits=arguments.bits,
        packed=arguments.packed,
        zeros=arguments.zeros,
        empty=arguments.empty_ball,
        k_values=arguments.k,
        both=arguments.both,
    )
    if arguments.out:
        text = json.dumps(found.as_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(arguments.out, text)
    if arguments.page:
        write_code_pages(found, arguments.page)
    if arguments.json:
        print_json(found.as_json())
        return 0
    names = ("expected", "best", "worst", "chance")
    rows = [
        [
            row["codes"],
            row["direction"],
            row["measure"],
            row["rules"],
            *(decimals(row.get(name), 4) for name in names),
        ]
        for row in found.rows()
    ]
    print(text_table(["codes", "", "measure", "rules of", *names], rows))
    say = stderr().print
    for way, studies in (("there", found.there), ("back", found.back)):
        for name, study in studies.items():
            for sentence in study.sentences():
                say(f"{name}{f' ({way})' if found.back else ''}: {sentence}", markup=False)
    for note in found.notes:
        say(note, markup=False)
    return 0
