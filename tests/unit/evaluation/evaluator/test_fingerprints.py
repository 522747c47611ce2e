from visual_search.evaluation.fingerprints import fingerprint_gallery, fingerprint_ids, fingerprints_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

RANKING = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"c": 0.4}}
TRUTH: dict[Id, dict[Id, float]] = {"q1": {"a": 1, "b": 2}, "q2": {"c": 0}}


def of(
    truth: dict[Id, dict[Id, float]] = TRUTH,
    ignored: dict[Id, list[Id]] | None = None,
    ranking: dict[str, dict[str, float]] = RANKING,
    gallery: str = "abcd",
) -> dict[str, str | None]:
    return fingerprints_of(
        Relevance.from_dict(truth, ignored=ignored),
        Ranking.from_dict(ranking),
        Ids(gallery),
    )


def changed(other: dict[str, str | None]) -> set[str]:
    return {name for name, value in of().items() if other[name] != value}


def test_the_order_in_which_things_are_held_does_not_matter() -> None:
    shuffled: dict[Id, dict[Id, float]] = {"q2": {"c": 0}, "q1": {"b": 2, "a": 1}}
    assert changed(of(truth=shuffled)) == set()
    assert changed(of(gallery="dcba")) == set()


def test_each_part_tells_its_own_change() -> None:
    assert changed(of(gallery="abc")) == {"gallery"}
    assert changed(of(truth={"q1": {"a": 1, "b": 1}, "q2": {"c": 0}})) == {"relevance"}
    assert changed(of(truth={"q1": {"a": 1}, "q2": {"b": 2, "c": 0}})) == {"relevance"}
    assert changed(of(truth={**TRUTH, "q3": {}})) == {"queries"}
    assert changed(of(ignored={"q1": ["d"]})) == {"exclusions"}
    assert changed(of(ranking={"q1": {"a": 0.9, "b": 0.5}, "q2": {"c": 0.41}})) == {"ranking"}
    assert changed(of(ranking={"q1": {"b": 0.9, "a": 0.5}, "q2": {"c": 0.4}})) == {"ranking"}


def test_integer_ids_are_not_the_strings_that_look_like_them() -> None:
    assert fingerprint_ids(Ids([1, 10, 2])) == fingerprint_ids(Ids([2, 1, 10]))
    assert fingerprint_ids(Ids([1, 2])) != fingerprint_ids(Ids(["1", "2"]))


def test_pairs_of_the_same_items_under_other_queries_differ() -> None:
    assert changed(of(truth={"q2": {"a": 1, "b": 2}, "q1": {"c": 0}})) == {"relevance"}


def test_another_file_under_the_same_id_is_another_gallery() -> None:
    ids = Ids(["a", "b"])
    before = fingerprint_gallery(ids, {"a": "00", "b": "11"})
    assert before == fingerprint_gallery(Ids(["b", "a"]), {"b": "11", "a": "00"})
    assert before != fingerprint_gallery(ids, {"a": "00", "b": "12"})
    assert before != fingerprint_gallery(ids, {"a": "11", "b": "00"})
    assert fingerprint_gallery(ids, None) == fingerprint_ids(ids)
