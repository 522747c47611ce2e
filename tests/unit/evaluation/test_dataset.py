import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from visual_search.errors import DatasetError, InputError
from visual_search.evaluation.dataset import EvaluationDataset, EvaluationQuery

GUIDE: dict[str, Any] = {
    "queries": [
        {
            "query_id": "q001",
            "image_path": "data/queries/query_001.jpg",
            "ground_truth": ["img_001", "img_002", "img_003"],
        },
        {"query_id": "q002", "image_path": "data/queries/query_002.jpg", "ground_truth": ["img_010", "img_011"]},
    ]
}


def problems_of(value: Any) -> list[str]:
    with pytest.raises(DatasetError) as caught:
        EvaluationDataset.from_dict(value)
    return [line.removeprefix("  - ") for line in str(caught.value).splitlines()[1:]]


def test_the_plain_format_round_trips_key_for_key(tmp_path: Path) -> None:
    (tmp_path / "eval.json").write_text(json.dumps(GUIDE))
    dataset = EvaluationDataset.from_json(tmp_path / "eval.json")
    assert [query.ground_truth for query in dataset.queries] == [q["ground_truth"] for q in GUIDE["queries"]]
    dataset.to_json(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == GUIDE
    assert dataset.warnings == ()


def test_every_problem_is_told_at_once_with_index_and_id() -> None:
    found = problems_of(
        {
            "queries": [
                {"query_id": "a", "ground_truth": ["x", "x", "", 3.5, "y", "y"]},
                {"query_id": "a", "ground_truth": "x"},
                "b",
                {"ground_truth": []},
                {"query_id": "c"},
                {"query_id": "", "ground_truth": ["z"], "image_path": 7},
                {"query_id": "d", "ground_truth": {"z": float("nan"), "w": "high"}, "ignored": ["w", "w"]},
                {"query_id": "e", "ground_truth": [{"id": "z"}, True]},
                {"query_id": "f", "ground_truth": None, "group": ""},
            ]
        }
    )
    assert found == [
        "queries[0] ('a'): ground_truth holds the empty id ''; an id is a non-empty string or an integer",
        "queries[0] ('a'): ground_truth holds float 3.5; an id is a non-empty string or an integer",
        "queries[0] ('a'): ground_truth names 'x' more than once; name each item once",
        "queries[0] ('a'): ground_truth names 'y' more than once; name each item once",
        "queries[1]: query_id 'a' is that of queries[0] too; each must be its own",
        "queries[1] ('a'): ground_truth is str 'x'; it must be a list of ids or {id: grade}",
        "queries[2] is str 'b'; it must be an object with query_id and ground_truth",
        "queries[3]: no query_id; give each query its own",
        "queries[4] ('c'): no ground_truth; give the list of relevant ids, empty if there are none",
        "queries[5]: query_id is the empty id ''; an id is a non-empty string or an integer",
        "queries[5]: image_path is int 7; it must be a string",
        "queries[6] ('d'): the grade of 'z' is nan; it must be finite (leave unjudged items out)",
        "queries[6] ('d'): the grade of 'w' is str 'high'; it must be a number (leave unjudged items out)",
        "queries[6] ('d'): ignored names 'w' more than once; name each item once",
        "queries[6] ('d'): 'w' in both ground_truth and ignored; choose one",
        "queries[7] ('e'): ground_truth holds dict {'id': 'z'}; an object there is {\"id\":, \"grade\":}",
        "queries[7] ('e'): ground_truth holds bool True; an id is a non-empty string or an integer",
        "queries[8] ('f'): ground_truth is null; it must be a list of ids or {id: grade}",
        "queries[8] ('f'): group is empty; leave the key out instead",
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "the top is list []"),
        ({}, 'no "queries"; the object is empty'),
        ({"other": []}, "no \"queries\"; the keys are 'other'"),
        ({"queries": {}}, "queries is dict {}; it must be a list"),
        ({"queries": []}, "queries is empty; there is nothing to evaluate"),
        ({"queries": [{"query_id": "a", "ground_truth": []}], "pseudo": True}, "pseudo is bool True"),
        ({"queries": [{"query_id": "a", "ground_truth": []}], "name": 3}, "name is int 3"),
        (
            {"queries": [{"query_id": "a", "ground_truth": []}], "x": float("inf")},
            "the key 'x' cannot stand in JSON",
        ),
        ({"queries": [{"query_id": "a", "ground_truth": ["1", 1]}]}, "item ids are both strings and integers"),
        (
            {"queries": [{"query_id": 1, "ground_truth": []}, {"query_id": "1", "ground_truth": []}]},
            "query ids are both strings and integers (1 at queries[0], '1' at queries[1])",
        ),
        ({"queries": [{"query_id": "a", "ground_truth": ["\ud800"]}]}, "not valid Unicode"),
        ({"queries": [{"query_id": "a", "ground_truth": [2**70]}]}, "beyond 64 bits"),
        ({"queries": [{"query_id": "a", "ground_truth": {"x": 10**400}}]}, "the grade of 'x' is inf"),
    ],
)
def test_a_dataset_that_is_wrong_as_a_whole(value: Any, said: str) -> None:
    assert any(said in problem for problem in problems_of(value)), problems_of(value)


def test_a_repeated_key_of_the_file_is_a_problem_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "eval.json").write_text('{"queries": [{"query_id": "a", "query_id": "b", "ground_truth": 1}]}')
    with pytest.raises(DatasetError) as caught:
        EvaluationDataset.from_json(tmp_path / "eval.json")
    assert 'queries[0]: the key "query_id" appears twice or more' in str(caught.value)
    assert "ground_truth is int 1" in str(caught.value)


def test_unknown_keys_are_kept_and_warned_of_once_a_key(tmp_path: Path) -> None:
    value = {
        "queries": [
            {"query_id": "a", "ground_truth": ["x"], "imagepath": "a.jpg"},
            {"query_id": "b", "ground_truth": ["x"], "imagepath": "b.jpg", "note": {"deep": [1, None]}},
        ],
        "version": 3,
    }
    dataset = EvaluationDataset.from_dict(value)
    assert list(dataset.warnings) == [
        "unknown key 'version' in the dataset; it is kept and not used",
        "unknown key 'imagepath' in queries[0] ('a') and 1 more (is 'image_path' meant?); it is kept and not used",
        "unknown key 'note' in queries[1] ('b'); it is kept and not used",
    ]
    dataset.to_json(tmp_path / "eval.json")
    assert json.loads((tmp_path / "eval.json").read_text()) == value


def test_grades_as_an_object_and_as_a_list_mean_the_same() -> None:
    one = EvaluationDataset.from_dict({"queries": [{"query_id": "a", "ground_truth": {"x": 2, "y": 1, "z": 0}}]})
    two = EvaluationDataset.from_dict(
        {"queries": [{"query_id": "a", "ground_truth": [{"id": "x", "grade": 2}, "y", {"id": "z", "grade": 0}]}]}
    )
    assert one == two
    assert one.queries[0].ground_truth == ["x", "y"]
    assert one.relevance().judged("a") == {"x": 2.0, "y": 1.0, "z": 0.0}


def test_integer_ids_stay_integers_through_the_file(tmp_path: Path) -> None:
    value = {"queries": [{"query_id": 5, "ground_truth": [{"id": 7, "grade": 2}, 8], "ignored": [9]}]}
    dataset = EvaluationDataset.from_dict(value)
    dataset.to_json(tmp_path / "eval.json")
    again = EvaluationDataset.from_json(tmp_path / "eval.json")
    assert again == dataset
    assert again.queries[0] == EvaluationQuery(5, {7: 2.0, 8: 1.0}, ignored=(9,))


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: bool(text.strip()))
queries = st.builds(
    EvaluationQuery,
    query_id=texts,
    judgements=st.dictionaries(texts, st.floats(-3, 5, allow_nan=False), max_size=5),
    image_path=st.none() | texts,
    group=st.none() | texts,
    category=st.none() | texts,
)


@settings(deadline=None)
@example([EvaluationQuery("a folder is no image", {}, image_path=".")])
@given(st.lists(queries, min_size=1, max_size=5, unique_by=lambda query: query.query_id))
def test_everything_comes_back(tmp_path_factory: pytest.TempPathFactory, listed: list[EvaluationQuery]) -> None:
    dataset = EvaluationDataset.from_queries(listed, name="n")
    path = tmp_path_factory.mktemp("dataset") / "eval.json"
    dataset.to_json(path)
    again = EvaluationDataset.from_json(path)
    assert again == dataset
    assert list(again.queries) == listed


def test_an_image_is_looked_for_beside_the_json_then_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, names in (("data", ["near.jpg", "both.jpg"]), ("run", ["far.jpg", "both.jpg"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_bytes(b"")
    names = ["near.jpg", "both.jpg", "far.jpg", "nowhere.jpg", str(tmp_path / "data" / "near.jpg")]
    value = {
        "queries": [{"query_id": str(n), "image_path": path, "ground_truth": []} for n, path in enumerate(names)]
    }
    (tmp_path / "data" / "eval.json").write_text(json.dumps(value))
    monkeypatch.chdir(tmp_path / "run")
    dataset = EvaluationDataset.from_json("../data/eval.json")
    found = [dataset.image_of(query) for query in dataset.queries]
    data = tmp_path / "run" / ".." / "data"
    assert [path and path.resolve() for path in found] == [
        (data / "near.jpg").resolve(),
        (data / "both.jpg").resolve(),
        (tmp_path / "run" / "far.jpg").resolve(),
        (tmp_path / "run" / "nowhere.jpg").resolve(),
        tmp_path / "data" / "near.jpg",
    ]


def test_a_file_written_elsewhere_still_reaches_its_images(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "q.jpg").write_bytes(b"")
    (tmp_path / "a" / "eval.json").write_text(
        json.dumps({"queries": [{"query_id": "q", "image_path": "q.jpg", "ground_truth": ["x"]}]})
    )
    EvaluationDataset.from_json(tmp_path / "a" / "eval.json").to_json(tmp_path / "b" / "eval.json")
    moved = EvaluationDataset.from_json(tmp_path / "b" / "eval.json")
    assert moved.queries[0].image_path == "../a/q.jpg"
    assert (moved.image_of(moved.queries[0]) or Path()).resolve() == tmp_path / "a" / "q.jpg"


@pytest.mark.parametrize("there", [True, False])
def test_a_file_of_the_same_name_in_the_new_folder_is_not_taken_for_the_image(tmp_path: Path, there: bool) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "b" / "q.jpg").write_bytes(b"another")
    if there:
        (tmp_path / "a" / "q.jpg").write_bytes(b"meant")
    (tmp_path / "a" / "eval.json").write_text(
        json.dumps({"queries": [{"query_id": "q", "image_path": "q.jpg", "ground_truth": ["x"]}]})
    )
    EvaluationDataset.from_json(tmp_path / "a" / "eval.json").to_json(tmp_path / "b" / "eval.json")
    moved = EvaluationDataset.from_json(tmp_path / "b" / "eval.json")
    assert moved.queries[0].image_path == "../a/q.jpg"


def test_a_path_from_the_current_folder_keeps_its_image_beside_another_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "q.jpg").write_bytes(b"another")
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": "q", "image_path": "q.jpg", "ground_truth": ["x"]}]}
    )
    dataset.to_json(tmp_path / "b" / "beside.json")
    (tmp_path / "q.jpg").write_bytes(b"meant")
    dataset.to_json(tmp_path / "b" / "eval.json")
    written = [EvaluationDataset.from_json(tmp_path / "b" / name) for name in ("beside.json", "eval.json")]
    assert [one.queries[0].image_path for one in written] == ["q.jpg", "../q.jpg"]


@pytest.mark.parametrize("cut", [None, [["q"]], [{}], "q", 3])
def test_queries_whose_truth_was_cut_must_be_ids(cut: object) -> None:
    with pytest.raises(DatasetError, match=r"pseudo\.cut_at_k is .*; it must be a list of query ids"):
        EvaluationDataset.from_dict(GUIDE | {"pseudo": {"cut_at_k": cut}})


def test_subset_keeps_order_and_everything_else() -> None:
    dataset = EvaluationDataset.from_dict(GUIDE | {"name": "guide", "pseudo": {"threshold": 0.8}})
    small = dataset.subset([1])
    assert [query.query_id for query in small.queries] == ["q002"]
    assert (small.name, small.pseudo) == ("guide", {"threshold": 0.8})
    with pytest.raises(InputError, match=r"0\.\.1"):
        dataset.subset([0, 2])
    with pytest.raises(InputError, match="empty"):
        dataset.subset([])
    with pytest.raises(DatasetError, match="twice"):
        dataset.subset([0, 0])


def test_leave_one_out_ignores_the_item_that_is_the_query_itself() -> None:
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": "a", "ground_truth": ["a", "b"]}, {"query_id": "b", "ground_truth": ["a"]}]}
    )
    relevance = dataset.relevance(ignore_self=True)
    assert relevance.judged("a") == {"b": 1.0}
    assert relevance.judged("b") == {"a": 1.0}
    assert int(relevance.ignored.sum()) == 2


def test_query_ids_of_another_kind_than_the_items_exclude_nothing() -> None:
    dataset = EvaluationDataset.from_dict({"queries": [{"query_id": "1", "ground_truth": [1, 2]}]})
    assert dataset.relevance(ignore_self=True).judged("1") == {1: 1.0, 2: 1.0}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"querys": []}, "no \"queries\", but 'querys' (is 'queries' meant?)"),
        ({"Queries": []}, "no \"queries\", but 'Queries' (is 'queries' meant?)"),
        (
            {"queries": [{"query_id": "a", "groundtruth": ["x"]}]},
            "queries[0] ('a'): no ground_truth, but 'groundtruth' (is 'ground_truth' meant?)",
        ),
        (
            {"queries": [{"query_id": "a", "ground-truths": ["x"]}]},
            "queries[0] ('a'): no ground_truth, but 'ground-truths' (is 'ground_truth' meant?)",
        ),
        (
            {"queries": [{"queryId": "a", "ground_truth": ["x"]}]},
            "queries[0]: no query_id, but 'queryId' (is 'query_id' meant?)",
        ),
    ],
)
def test_a_key_written_almost_right_is_named_where_it_is_missed(value: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError) as caught:
        EvaluationDataset.from_dict(value)
    assert said in str(caught.value)
    assert str(caught.value).count("meant?") == 1


def test_a_key_that_is_used_is_not_taken_for_the_missing_one() -> None:
    with pytest.raises(DatasetError) as caught:
        EvaluationDataset.from_dict({"queries": [{"query_id": "a", "group": "g", "image_path": "x"}], "name": "n"})
    assert "meant?" not in str(caught.value)
