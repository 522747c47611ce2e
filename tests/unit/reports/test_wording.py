"""Numbers as people read them: rounded alike everywhere, never to 0 or 1 unless they are."""

from hypothesis import given
from hypothesis import strategies as st

from visual_search.reports.wording import percent, printable, short_id, value

shares = st.floats(0, 1)


@given(shares)
def test_only_0_and_1_are_written_as_such(number: float) -> None:
    written = float(value(number))
    assert (written == 0) == (number == 0)
    assert (written == 1) == (number == 1)
    assert abs(written - number) <= 0.0005 * (1 + 1e-9)


@given(st.integers(10, 9990).map(lambda n: n / 10_000))
def test_percent_and_value_are_rounded_alike(number: float) -> None:
    assert abs(float(percent(number).removesuffix(" %")) - 100 * float(value(number))) < 1e-9


@given(st.text(), st.integers(3, 200))
def test_ids_are_cut_in_the_middle_and_can_be_written(text: str, limit: int) -> None:
    shown = short_id(text, limit)
    assert len(shown) <= limit
    shown.encode("utf-8")
    if len(text) <= limit and text.isalnum():
        assert shown == text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"])))
def test_what_can_be_shown_is_shown(text: str) -> None:
    assert printable(text) == text
