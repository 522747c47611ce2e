"""The presets: one a field, each with the sentence that explains its choices.

The same run has another number under each field's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.protocols.preset import Preset

__all__ = ["PRESETS", "Preset", "preset_named"]

_REVISITOP = Preset(
    name="revisitop-medium",
    used_by="revisited Oxford and Paris",
    measures=("AP(interpolation=trapezoid)", "Precision(denominator=last)@{k}"),
    k_values=(1, 5, 10),
    defaults={"AP": {"interpolation": "trapezoid"}, "Precision": {"denominator": "last"}},
    ties="listed",
    empty="left out",
    exclusions="junk; positives are easy and hard",
    why=(
        "the area under the precision-recall curve is summed in trapezoids, precision before rank 1 being 1, "
        "and precision is read no deeper than the last positive; queries without positives are left out; "
        "order as sorted (compute_map of the benchmark's own code, which ranks the whole gallery: a positive that a "
        "cut list lacks counts as beyond its end)"
    ),
)

_DEEPHASH = Preset(
    name="deephash",
    used_by="deep hashing of images (DeepHash-pytorch)",
    measures=("AP(denominator=found)@{k}",),
    k_values=(1000, 5000),
    defaults={"AP": {"denominator": "found"}},
    ties="listed",
    empty="zero",
    exclusions="none",
    why=(
        "the sum of precisions is divided by the relevant items found among the first k, so that what is "
        "missed costs nothing; a query with none found counts 0; items at one Hamming distance stay as sorted"
        " (CalcTopMap)"
    ),
)

_ALL: tuple[Preset, ...] = (
    Preset(
        name="textbook",
        used_by="query and gallery evaluation as textbooks define it",
        measures=("HitRate@{k}", "Recall(average=micro)@{k}", "AP(denominator=min)@{k}"),
        k_values=(1, 5, 10),
        defaults={"AP": {"denominator": "min"}, "Recall": {"average": "micro"}},
        ties="expected",
        exclusions="none",
        why=(
            "AP@k is divided by min(R, k), so that a perfect ranking scores 1 also when k < R; queries "
            "without relevant items are left out of AP and counted, and score 0 in HitRate, whose denominator"
            " is all queries"
        ),
    ),
    Preset(
        name="guide",
        used_by="the visual search evaluation guide",
        measures=(
            "Recall(denominator=all)@{k}",
            "Precision(denominator=k)@{k}",
            "AP(denominator=all)@{max_k}",
            "RR",
            "nDCG@{k}",
            "HitRate@{k}",
        ),
        k_values=(1, 5, 10, 20),
        ties="listed",
        empty="left out",
        exclusions="none",
        why=(
            "recall and AP are divided by all relevant items, so that neither can reach 1 while k < R; "
            "results count in the order the search returned them; queries without relevant items are left out"
            " and counted"
        ),
    ),
    Preset(
        name="cross-modal-hashing",
        used_by="cross-modal hashing (calc_map_k)",
        measures=("AP(cut=relevant)@{k}",),
        k_values=(50, 500),
        defaults={"AP": {"cut": "relevant"}},
        ties="listed",
        empty="zero",
        exclusions="none",
        why=(
            "k counts relevant items, not ranks: the mean of j / rank_j over the first min(k, R) relevant "
            "items wherever they rank; queries without relevant items count 0; equal distances as sorted"
        ),
    ),
    Preset(
        name="trec_eval",
        used_by="trec_eval with -c",
        measures=(
            "AP",
            "nDCG",
            "nDCG@{k}",
            "RR",
            "Precision@{k}",
            "Recall(denominator=all)@{k}",
            "HitRate@{k}",
            "RPrecision",
            "Bpref",
        ),
        k_values=(5, 10, 100),
        defaults={"Bpref": {"negative": "unjudged"}},
        ties="id_desc",
        empty="zero",
        lists="float32",
        exclusions="none",
        why=(
            "scores are rounded to float32 and equal ones go by falling id, whatever order the run has; queries "
            "without relevant items, or missing from the run (-c), count 0; bpref passes over negative grades"
        ),
    ),
    replace(
        _REVISITOP,
        name="revisitop-easy",
        exclusions="junk and hard; positives are easy",
        why=f"only easy images are positives: {_REVISITOP.why}",
    ),
    _REVISITOP,
    replace(
        _REVISITOP,
        name="revisitop-hard",
        exclusions="junk and easy; positives are hard",
        why=f"only hard images are positives: {_REVISITOP.why}",
    ),
    Preset(
        name="gldv2",
        used_by="Google Landmarks v2 retrieval",
        measures=("AP(denominator=min)@{k}",),
        k_values=(100,),
        defaults={"AP": {"denominator": "min"}},
        ties="listed",
        empty="left out",
        exclusions="none",
        why=(
            "AP at 100 is divided by min(R, 100), so that a perfect ranking scores 1; a query missing from "
            "the run counts 0, one without relevant images is left out; order as submitted"
        ),
    ),
    Preset(
        name="market1501",
        used_by="person re-identification (Market-1501; torchreid, fast-reid)",
        measures=("HitRate@{k}", "AP(denominator=all)", "AP(interpolation=trapezoid)", "INP"),
        k_values=(1, 5, 10),
        ties="expected",
        empty="left out",
        exclusions="gallery images of the query's identity from the query's camera; identity -1",
        why=(
            "AP is shown twice: in trapezoids as the benchmark's first code had it, and divided by all "
            "relevant images as torchreid and fast-reid compute it; a query whose identity only its own "
            "camera saw is left out, of the CMC curve (HitRate) too"
        ),
    ),
    _DEEPHASH,
    replace(
        _DEEPHASH,
        name="deephash-thulab",
        used_by="deep hashing of images (HashNet and code derived from it)",
        measures=("AP(denominator=found,unfound=undefined)@{k}",),
        defaults={"AP": {"denominator": "found", "unfound": "undefined"}},
        empty="by measure",
        why=(
            "as deephash, but a query with no relevant item among the first k is left out of the mean instead"
            " of counting 0, which raises it"
        ),
    ),
    Preset(
        name="metric-learning",
        used_by="metric learning (A Metric Learning Reality Check)",
        measures=("AP(denominator=all)@R", "RPrecision", "Precision@1", "HitRate@{k}"),
        k_values=(1, 2, 4, 8),
        ties="expected",
        empty="left out",
        exclusions="the query itself",
        why=(
            "MAP@R reads each list only down to R, its number of relevant items; what is called Recall@k "
            "there is HitRate@k; a query with no other item of its class is left out"
        ),
    ),
    Preset(
        name="mteb",
        used_by="MTEB and BEIR retrieval tasks",
        measures=(
            "nDCG(gain=linear)@{k}",
            "AP(denominator=all)@{k}",
            "Recall(denominator=all)@{k}",
            "Precision@{k}",
            "RR(ties=listed)@{k}",
            "HitRate@{k}",
        ),
        k_values=(1, 3, 5, 10, 20, 100),
        defaults={"RR": {"ties": "listed"}},
        ties="id_desc",
        empty="zero",
        missing="left out",
        lists="float32",
        exclusions="the query itself, where queries and items share their ids",
        why=(
            "trec_eval computes all but RR, so that scores are rounded to float32 and equal ones sorted by "
            "falling id; RR is read off the list as returned; a judged query without relevant items counts 0,"
            " and one missing from the run is dropped"
        ),
    ),
    Preset(
        name="image-text",
        used_by="image-text retrieval (COCO, Flickr30K)",
        measures=("HitRate@{k}", "FirstRank(average=median)"),
        k_values=(1, 5, 10),
        ties="expected",
        empty="zero",
        exclusions="none",
        why=(
            "what is called R@k there is HitRate@k, any one of an image's captions being enough; both "
            "directions are evaluated, and their six values summed are rSum"
        ),
    ),
    Preset(
        name="torchmetrics",
        used_by="torchmetrics' retrieval metrics (from 1.7.4)",
        measures=(
            "AP(denominator=found)@{k}",
            "Recall@{k}",
            "Precision@{k}",
            "RR@{k}",
            "nDCG(ties=expected)@{k}",
            "HitRate@{k}",
        ),
        k_values=(1, 5, 10),
        defaults={"AP": {"denominator": "found"}, "nDCG": {"ties": "expected"}},
        ties="listed",
        empty="zero",
        lists="positive",
        exclusions="none",
        why=(
            "AP is divided by the relevant items found; items with a score of 0 or below are taken out of the"
            " list, except for hit rates, nDCG and RPrecision, so that negative cosines score 0; nDCG averages "
            "over ties; queries without relevant items count 0 by default"
        ),
    ),
    Preset(
        name="ann",
        used_by="the recall of an approximate nearest-neighbour index",
        measures=(
            "NeighborRecall(ties=exact)@{k}",
            "NeighborRecall(ties=exact,average=minimum)@{k}",
            "LowNeighborRecall(below=0.9,ties=exact)@{k}",
        ),
        k_values=(10,),
        ties="exact",
        truth="neighbors",
        exclusions="none",
        why=(
            "what was returned is compared with the exact neighbours under a stated metric, not with relevance; an "
            "item as far as the k-th counts as one of them; the mean stands beside the worst query and the share of "
            "queries below .9, which it hides"
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})


def preset_named(name: str | Preset) -> Preset:
    """The preset of that name; a preset is returned as it is.

    Raises
    ------
    UnknownNameError
        There is none; the message lists those there are.

    Examples
    --------
    >>> preset_named("trec_eval").ties
    'id_desc'
    """
    if isinstance(name, Preset):
        return name
    if not isinstance(name, str):
        raise InputError(f"preset={name!r}: one name is needed, of {', '.join(PRESETS)}")
    if name not in PRESETS:
        from difflib import get_close_matches

        near = get_close_matches(name, PRESETS, n=1)
        meant = f", did you mean {near[0]}?" if near else ""
        raise UnknownNameError(f"no preset {name!r}{meant}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
