"""``visual-search evaluate``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = "Measure an index against a JSON of right answers."
EXAMPLE = """\
  visual-search evaluate --index data/index --dataset eval.json --output results.json --k 1 5 10 20
  visual-search evaluate --index data/index --dataset eval.json --output results.json --baseline histogram
  visual-search evaluate --index data/index --dataset eval.json --output results.json --baseline previous"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--index", required=True, help="folder that 'visual-search index' wrote")
    parser.add_argument("--dataset", required=True, help="JSON of queries and right answers")
    parser.add_argument("--output", required=True, help="results JSON; ranking and per-query values go beside it")
    parser.add_argument(
        "-k", "--k", nargs="+", default=["1", "5", "10", "20"], metavar="K", help="depths, or 'user', or 'analysis'"
    )
    parser.add_argument("--application-k", type=int, default=None, help="how many results your users see")
    parser.add_argument(
        "--exclude-self",
        action="store_true",
        help="leave-one-out: the item with the query's own id counts neither way",
    )
    parser.add_argument(
        "--ties",
        default="listed",
        choices=["expected", "best", "worst", "listed", "id_desc", "id_asc"],
        help="what is done with equal scores: as returned (the guide's rule), the mean over their orders, ...",
    )
    parser.add_argument(
        "--split", metavar="FILE", default=None, help="the split of the dataset; its proof goes into the result"
    )
    parser.add_argument("--model-name", default=None, help="name in the result; the embedder's where left out")
    parser.add_argument(
        "--baseline",
        nargs="+",
        metavar="BASELINE",
        default=[],
        help="what to compare with on the same queries: earlier results JSON files, 'previous' (the result that the "
        "output replaces; a copy of it is kept beside it), or embedders such as pixels and histogram",
    )
    parser.add_argument("--report", metavar="FILE", default=None, help="write the HTML page as well")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, write the result, print the summary."""
    from visual_search.workflows.evaluate import evaluate_index

    evaluated = evaluate_index(
        arguments.index,
        arguments.dataset,
        arguments.output,
        k_values=_depths(arguments.k),
        application_k=arguments.application_k,
        exclude_self=arguments.exclude_self,
        ties=arguments.ties,
        model_name=arguments.model_name,
        baselines=arguments.baseline,
        report=arguments.report,
        split=arguments.split,
    )
    if arguments.json:
        print_json(evaluated.as_json())
    else:
        print(evaluated.summary())
        stderr().print(f"result: {arguments.output}", markup=False)
    for note in evaluated.notes:
        stderr().print(note, markup=False)
    if evaluated.page is not None:
        stderr().print(f"report: {evaluated.page}", markup=False)
    return 0


def _depths(words: list[str]) -> list[int] | str:
    if len(words) == 1 and not words[0].lstrip("+-").isdigit():
        return words[0]
    try:
        return [int(word) for word in words]
    except ValueError:
        # The evaluator's own check names what is allowed.
        return " ".join(words)
