#!/usr/bin/env python
"""Evaluate visual search model."""

import argparse

from visual_search.evaluation.evaluator import evaluate_model
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch


def main() -> None:
    """Load an index, evaluate it on a dataset, write the results and print their summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", required=True, help="Path to FAISS index")
    parser.add_argument("--dataset", required=True, help="Evaluation dataset JSON")
    parser.add_argument("--output", required=True, help="Output path for results")
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 10, 20])
    args = parser.parse_args()

    # Load index
    index = VectorIndex(dimension=512)
    index.load(args.index)

    # Create search service
    search_service = NearestNeighborSearch(index=index)

    # Run evaluation
    result = evaluate_model(
        search_service=search_service,
        dataset_path=args.dataset,
        k_values=args.k,
        output_path=args.output,
    )

    print(result.summary())


if __name__ == "__main__":
    main()
