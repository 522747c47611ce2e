"""The evaluation guide's names in one place: datasets, evaluation, pseudo ground truth, baselines."""

from __future__ import annotations

from visual_search.evaluation.baselines import Baseline, BaselineComparison, compare_baselines
from visual_search.evaluation.dataset import EvaluationDataset, EvaluationQuery
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.fold_scores import FoldScores
from visual_search.evaluation.model_evaluator import ModelEvaluator, evaluate_model
from visual_search.evaluation.pseudo import create_pseudo_ground_truth
from visual_search.evaluation.reference_values import ceilings, random_baseline
from visual_search.evaluation.search_service import SearchService
from visual_search.evaluation.statistics.interval import Interval, Resampling

__all__ = [
    "Baseline",
    "BaselineComparison",
    "EvaluationDataset",
    "EvaluationQuery",
    "EvaluationResult",
    "FoldScores",
    "Interval",
    "ModelEvaluator",
    "Resampling",
    "SearchService",
    "ceilings",
    "compare_baselines",
    "create_pseudo_ground_truth",
    "evaluate_model",
    "random_baseline",
]
