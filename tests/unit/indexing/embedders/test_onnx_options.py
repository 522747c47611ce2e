import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search.errors import InputError
from visual_search.indexing.embedders.onnx_options import OnnxOptions

numbers = st.floats(min_value=-1000, max_value=1000, allow_nan=False)
positive = st.floats(min_value=1e-6, max_value=1000)
names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)


def channels(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[float, ...] | None]:
    return st.none() | st.lists(values, min_size=1, max_size=3).map(tuple)


options = st.builds(
    OnnxOptions,
    size=st.none() | st.tuples(st.integers(1, 999), st.integers(1, 999)),
    resize=st.sampled_from(["stretch", "shorter-side"]),
    filter=st.sampled_from(["nearest", "box", "bilinear", "bicubic", "lanczos"]),
    crop=st.floats(min_value=0.01, max_value=1),
    scale=positive,
    mean=channels(numbers),
    std=channels(positive),
    order=st.sampled_from(["rgb", "bgr"]),
    layout=st.sampled_from([None, "nchw", "nhwc"]),
    input=st.none() | names,
    output=st.none() | names,
    pool=st.sampled_from([None, "mean", "first"]),
    normalize=st.sampled_from(["none", "l2"]),
)


@given(options)
def test_text_and_back(given_options: OnnxOptions) -> None:
    assert OnnxOptions.from_text(given_options.as_text(), what="onnx:m.onnx") == given_options


def test_defaults_are_not_written() -> None:
    assert OnnxOptions().as_text() == ""
    assert OnnxOptions.from_text("", what="onnx:m.onnx") == OnnxOptions()
    assert OnnxOptions.from_text("resize=stretch&size=224x224", what="m").as_text() == "size=224"


def test_all_problems_of_a_text_at_once() -> None:
    with pytest.raises(InputError) as refused:
        OnnxOptions.from_text("size=big&means=0.5&std=1,a&crop=1/0&scale=inf&std=2", what="onnx:m.onnx")
    message = str(refused.value)
    assert message.startswith("onnx:m.onnx: 5 problems")
    for problem in (
        "size='big' cannot be read; give 224, or height and width as 224x160",
        "parameter 'means' is unknown; known are crop, filter,",
        "std='1,a' cannot be read; give one number for all channels",
        "crop='1/0' cannot be read",
        "scale='inf' cannot be read",
    ):
        assert problem in message


def test_a_parameter_given_twice_and_a_text_that_is_no_list() -> None:
    with pytest.raises(InputError, match="parameter 'size' is given twice"):
        OnnxOptions.from_text("size=1&size=2", what="m")
    with pytest.raises(InputError, match="'size' is not a list of name=value joined by '&'"):
        OnnxOptions.from_text("size", what="m")


def test_values_outside_the_allowed_are_all_named() -> None:
    with pytest.raises(InputError) as refused:
        OnnxOptions.from_text("resize=fit&layout=chw&pool=max&order=rgba&size=0&std=0", what="m")
    message = str(refused.value)
    for problem in (
        "resize='fit' is not one of stretch, shorter-side",
        "layout='chw' is not one of nchw, nhwc",
        "pool='max' is not one of mean, first",
        "order='rgba' is not one of rgb, bgr",
        "size=(0, 0): give height and width, at least 1 pixel each",
        "std=(0.0,): no channel's std may be 0",
    ):
        assert problem in message
