"""Any image model in an ONNX file; most models here give the mean colour, which tells what was done to pixels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from PIL import Image

from visual_search.errors import FileFormatError, InputError, NonFiniteError
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.indexing.embedders.onnx_model import OnnxEmbedder
from visual_search.indexing.embedders.onnx_options import OnnxOptions

Save = Callable[..., Path]
FLOAT = TensorProto.FLOAT
ORANGE = (255, 128, 0)


def one(embedder: OnnxEmbedder, image: Image.Image | None = None) -> np.ndarray:
    image = image or Image.new("RGB", (30, 20), ORANGE)
    return np.asarray(embedder.embed(embedder.prepare(image)[None])[0])


def test_by_default_values_are_scaled_as_imagenets(mean_colour: Save) -> None:
    expected = (np.array(ORANGE) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    embedder = OnnxEmbedder(mean_colour())
    np.testing.assert_allclose(one(embedder), expected, rtol=1e-5)
    assert embedder.preprocessing == (
        "RGB, stretched to 8x8, bilinear (large pictures averaged in whole blocks to no less than 1.25 times that "
        "before), (value * 0.00392157 - [0.485,0.456,0.406]) / [0.229,0.224,0.225], "
        "nchw into 'image', output 'vector'"
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("mean=0&std=1&scale=1", [255, 128, 0]),
        ("mean=0.5&std=0.5", [1, 2 * 128 / 255 - 1, -1]),
        ("mean=127,127,127&std=128,128,128&scale=1", [1, 1 / 128, -127 / 128]),
        ("mean=0&std=1&scale=1&order=bgr", [0, 128, 255]),
        ("mean=1,2,3&std=1,2,4&scale=1&order=bgr", [-1, 63, 63]),
        ("mean=0&std=1&scale=1/2", [127.5, 64, 0]),
    ],
)
def test_stated_preprocessing_is_done(mean_colour: Save, parameters: str, expected: list[float]) -> None:
    embedder = OnnxEmbedder.from_argument(f"{mean_colour()}?{parameters}")
    np.testing.assert_allclose(one(embedder), expected, rtol=1e-5, atol=1e-5)
    assert OnnxEmbedder.from_argument(embedder.name.removeprefix("onnx:")).preprocessing == embedder.preprocessing


def test_imagenets_values_follow_the_channels_into_bgr(mean_colour: Save) -> None:
    path = mean_colour()
    rgb, bgr = OnnxEmbedder(path), OnnxEmbedder(path, OnnxOptions(order="bgr"))
    np.testing.assert_allclose(one(bgr), one(rgb)[::-1], rtol=1e-6)


@pytest.mark.parametrize("shape", [("n", 8, 6, 3), (1, 8, 6, 3), ("n", "h", "w", 3)])
def test_channels_last_is_read_off_the_graph(mean_colour: Save, shape: tuple[Any, ...]) -> None:
    embedder = OnnxEmbedder(mean_colour(shape), OnnxOptions(mean=(0.0,), std=(1.0,), scale=1.0, size=None))
    np.testing.assert_allclose(one(embedder), ORANGE, rtol=1e-5)
    assert "nhwc" in embedder.preprocessing


def test_size_comes_from_the_graph_or_the_options_or_is_imagenets(mean_colour: Save) -> None:
    flexible = mean_colour(("n", 3, "h", "w"))
    assert OnnxEmbedder(flexible).prepare(Image.new("RGB", (9, 9))).shape == (3, 224, 224)
    sized = OnnxEmbedder.from_argument(f"{flexible}?size=10x12")
    assert sized.prepare(Image.new("RGB", (9, 9))).shape == (3, 10, 12)
    fixed = mean_colour(("n", 3, 7, 5), name="fixed.onnx")
    assert OnnxEmbedder(fixed).prepare(Image.new("RGB", (9, 9))).shape == (3, 7, 5)
    with pytest.raises(InputError, match=r"size says a height of 224, but input 'image' has shape .*7, 5"):
        OnnxEmbedder(fixed, OnnxOptions(size=(224, 224)))


def test_grey_models_get_grey(mean_colour: Save) -> None:
    embedder = OnnxEmbedder.from_argument(f"{mean_colour(('n', 1, 8, 8))}?mean=0&std=1&scale=1")
    luma = np.asarray(Image.new("RGB", (1, 1), ORANGE).convert("L"))[0, 0]
    assert one(embedder).tolist() == [luma]
    assert embedder.preprocessing.startswith("grey, ")


def test_eight_bit_inputs_take_values_as_they_are(mean_colour: Save) -> None:
    path = mean_colour(("n", 8, 8, 3), TensorProto.UINT8)
    embedder = OnnxEmbedder(path)
    assert one(embedder).tolist() == list(ORANGE)
    assert "8-bit values" in embedder.preprocessing
    with pytest.raises(InputError, match="takes 8-bit values as they are; leave out scale, mean and std"):
        OnnxEmbedder(path, OnnxOptions(mean=(0.5,)))


def test_half_precision_goes_in_and_float32_comes_out(mean_colour: Save) -> None:
    embedder = OnnxEmbedder(mean_colour(kind=TensorProto.FLOAT16))
    assert embedder.prepare(Image.new("RGB", (9, 9))).dtype == np.float16
    assert one(embedder).dtype == np.float32


@pytest.mark.parametrize("fixed", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_batch_that_the_graph_fixes_is_filled_up(mean_colour: Save, fixed: int, count: int) -> None:
    embedder = OnnxEmbedder(mean_colour((fixed, 3, 8, 8)))
    assert embedder.batch_size == fixed
    batch = np.random.default_rng(0).normal(size=(count, 3, 8, 8)).astype(np.float32)
    np.testing.assert_allclose(embedder.embed(batch), batch.mean((2, 3)), rtol=1e-4, atol=1e-6)


def test_normalize_divides_by_the_length(mean_colour: Save) -> None:
    embedder = OnnxEmbedder.from_argument(f"{mean_colour()}?normalize=l2")
    assert np.linalg.norm(one(embedder)) == pytest.approx(1)
    assert embedder.preprocessing.endswith("L2-normalised")


class TestOutputs:
    @pytest.fixture
    def four(self, save_model: Save) -> Path:
        """Outputs of 4, 3 and 2 axes and one of whole numbers, in this order."""
        nodes = [
            helper.make_node("Identity", ["image"], ["map"]),
            helper.make_node("Reshape", ["image", "tokens_shape"], ["tokens"]),
            helper.make_node("ReduceMax", ["image"], ["peak"], axes=[2, 3], keepdims=0),
            helper.make_node("Cast", ["peak"], ["whole"], to=TensorProto.INT64),
        ]
        outputs = [
            ("whole", TensorProto.INT64, ["n", 3]),
            ("map", FLOAT, ["n", 3, 2, 2]),
            ("tokens", FLOAT, ["n", 4, 3]),
            ("peak", FLOAT, ["n", 3]),
        ]
        return save_model(
            nodes, [("image", FLOAT, ["n", 3, 2, 2])], outputs, {"tokens_shape": np.array([-1, 4, 3], np.int64)}
        )

    batch = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)

    def embedded(self, path: Path, parameters: str) -> np.ndarray:
        return np.asarray(OnnxEmbedder.from_argument(f"{path}?{parameters}").embed(self.batch))

    def test_by_name(self, four: Path) -> None:
        assert np.array_equal(self.embedded(four, "output=peak"), self.batch.max((2, 3)))

    def test_maps_give_their_spatial_mean(self, four: Path) -> None:
        assert np.array_equal(self.embedded(four, "output=map"), self.batch.mean((2, 3)))

    def test_tokens_give_what_pool_says(self, four: Path) -> None:
        tokens = self.batch.reshape(2, 4, 3)
        assert np.array_equal(self.embedded(four, "output=tokens&pool=first"), tokens[:, 0])
        assert np.array_equal(self.embedded(four, "output=tokens&pool=mean"), tokens.mean(1))
        with pytest.raises(InputError, match="one vector a token; say pool=first"):
            self.embedded(four, "output=tokens")

    def test_the_first_of_two_axes_is_taken_where_none_is_named(self, four: Path) -> None:
        with pytest.raises(
            InputError, match=r"'whole' gives tensor\(int64\), not numbers with a fraction; .*'peak'"
        ):
            self.embedded(four, "")

    def test_an_unknown_name_lists_the_outputs(self, four: Path) -> None:
        with pytest.raises(InputError, match=r"no output 'pool5'; the model has 'whole' .*, 'map' .*'peak'"):
            self.embedded(four, "output=pool5")

    def test_maps_of_channels_last_models_are_averaged_over_their_own_axes(self, save_model: Save) -> None:
        node = helper.make_node("Identity", ["image"], ["map"])
        path = save_model([node], [("image", FLOAT, ["n", 2, 4, 3])], [("map", FLOAT, ["n", 2, 4, 3])])
        batch = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
        assert np.array_equal(OnnxEmbedder(path).embed(batch), batch.mean((1, 2)))


class TestRefusals:
    def test_no_image_input(self, save_model: Save) -> None:
        node = helper.make_node("Identity", ["words"], ["out"])
        path = save_model([node], [("words", FLOAT, ["n", 7])], [("out", FLOAT, ["n", 7])])
        with pytest.raises(InputError, match=r"no input takes an image \(4 axes\); the model has 'words'"):
            OnnxEmbedder(path)

    def test_several_image_inputs_or_one_beside_others(self, save_model: Save) -> None:
        nodes = [
            helper.make_node("Add", ["a", "b"], ["both"]),
            helper.make_node("ReduceMean", ["both"], ["out"], axes=[2, 3], keepdims=0),
        ]
        shape = ["n", 3, 4, 4]
        path = save_model(nodes, [("a", FLOAT, shape), ("b", FLOAT, shape)], [("out", FLOAT, ["n", 3])])
        with pytest.raises(InputError, match="several inputs could take an image; choose one with input="):
            OnnxEmbedder(path)
        with pytest.raises(
            InputError, match="besides the image 'a' the model needs 'b'; export the image tower alone"
        ):
            OnnxEmbedder(path, OnnxOptions(input="a"))
        with pytest.raises(InputError, match="no input 'c'; the model has 'a'"):
            OnnxEmbedder(path, OnnxOptions(input="c"))

    def test_a_shape_that_does_not_tell_the_layout(self, save_model: Save) -> None:
        node = helper.make_node("ReduceMean", ["image"], ["out"], axes=[2, 3], keepdims=0)
        shape = ["n", "c", "h", "w"]
        path = save_model([node], [("image", FLOAT, shape)], [("out", FLOAT, ["n", "c"])])
        with pytest.raises(
            InputError, match="does not tell where the channels stand; say layout=nchw or layout=nhwc"
        ):
            OnnxEmbedder(path)
        assert OnnxEmbedder(path, OnnxOptions(layout="nchw")).dimension == 3
        path = save_model([node], [("image", FLOAT, ["n", 8, 3, 3])], [("out", FLOAT, ["n", 8])], name="eight.onnx")
        with pytest.raises(InputError, match="as nchw that is 8 channels"):
            OnnxEmbedder(path, OnnxOptions(layout="nchw"))

    def test_wrong_numbers_of_means(self, mean_colour: Save) -> None:
        with pytest.raises(InputError, match="mean has 2 values for 3 channels"):
            OnnxEmbedder(mean_colour(), OnnxOptions(mean=(0.1, 0.2)))

    def test_a_model_that_gives_nan(self, save_model: Save) -> None:
        nodes = [
            helper.make_node("ReduceMean", ["image"], ["mean"], axes=[2, 3], keepdims=0),
            helper.make_node("Div", ["mean", "zero"], ["out"]),
        ]
        weights = {"zero": np.zeros(1, np.float32)}
        path = save_model(nodes, [("image", FLOAT, ["n", 3, 4, 4])], [("out", FLOAT, ["n", 3])], weights)
        with pytest.raises(NonFiniteError, match="output 'out' is NaN or infinite"):
            OnnxEmbedder(path)

    def test_a_model_that_fails_on_the_size_says_so_before_the_run(self, save_model: Save) -> None:
        nodes = [
            helper.make_node("Flatten", ["image"], ["flat"]),
            helper.make_node("MatMul", ["flat", "weights"], ["out"]),
        ]
        weights = {"weights": np.ones((3 * 4 * 4, 2), np.float32)}
        path = save_model(nodes, [("image", FLOAT, ["n", 3, "h", "w"])], [("out", FLOAT, ["n", 2])], weights)
        with pytest.raises(InputError, match=r"the model failed on image float32\[1, 3, 224, 224\]"):
            OnnxEmbedder(path)
        assert OnnxEmbedder(path, OnnxOptions(size=(4, 4))).dimension == 2

    def test_files_that_are_no_models(self, mean_colour: Save, tmp_path: Path) -> None:
        whole = mean_colour().read_bytes()
        damaged = {
            "cut.onnx": (whole[: len(whole) // 2], "truncated, or not an ONNX model"),
            "empty.onnx": (b"", "an empty file: 0 bytes"),
            "picture.onnx": (b"\x89PNG\r\n\x1a\n" + bytes(100), "truncated, or not an ONNX model"),
            "words.onnx": (b"not a model at all", "truncated, or not an ONNX model"),
        }
        for name, (content, reason) in damaged.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(FileFormatError, match=reason):
                OnnxEmbedder(tmp_path / name)
        with pytest.raises(FileFormatError, match=r"gone\.onnx: there is no such file"):
            OnnxEmbedder(tmp_path / "gone.onnx")
        with pytest.raises(FileFormatError, match="there is no such file"):
            OnnxEmbedder(tmp_path)

    def test_a_protocol_buffer_that_is_no_model(self, tmp_path: Path) -> None:
        (tmp_path / "other.onnx").write_bytes(b"\x08\x01")  # a model's version and nothing else
        with pytest.raises(FileFormatError, match=r"ONNX Runtime .* cannot load it"):
            OnnxEmbedder(tmp_path / "other.onnx")

    def test_a_path_is_needed(self) -> None:
        with pytest.raises(InputError, match=r"an argument is needed, for example 'onnx:model\.onnx'"):
            OnnxEmbedder.from_argument("")


class TestWeightsHash:
    def test_is_that_of_the_file(self, mean_colour: Save) -> None:
        path = mean_colour()
        assert OnnxEmbedder(path).weights_hash == fingerprint_file(path)

    @pytest.fixture
    def beside(self, save_model: Save) -> Path:
        """A model whose tensor lies in a file beside it."""
        nodes = [
            helper.make_node("ReduceMean", ["image"], ["mean"], axes=[2, 3], keepdims=0),
            helper.make_node("MatMul", ["mean", "weights"], ["out"]),
        ]
        weights = {"weights": np.arange(3000, dtype=np.float32).reshape(3, 1000)}
        return save_model(
            nodes,
            [("image", FLOAT, ["n", 3, 4, 4])],
            [("out", FLOAT, ["n", 1000])],
            weights,
            save_as_external_data=True,
            location="tensors.bin",
        )

    def test_covers_tensors_in_other_files(self, beside: Path) -> None:
        before = OnnxEmbedder(beside).weights_hash
        assert before == OnnxEmbedder(beside).weights_hash != fingerprint_file(beside)
        tensors = bytearray((beside.parent / "tensors.bin").read_bytes())
        tensors[100] ^= 1
        (beside.parent / "tensors.bin").write_bytes(tensors)
        assert OnnxEmbedder(beside).weights_hash != before

    def test_a_missing_file_of_tensors_is_named(self, beside: Path) -> None:
        (beside.parent / "tensors.bin").unlink()
        with pytest.raises(FileFormatError, match=r"tensors lie in 'tensors\.bin', missing from .*; put the files"):
            OnnxEmbedder(beside)

    def test_tensors_outside_the_folder_are_refused(self, beside: Path) -> None:
        # Of the same length, so that the message around it stays whole.
        beside.write_bytes(beside.read_bytes().replace(b"tensors.bin", b"../../x.bin"))
        with pytest.raises(FileFormatError, match=r"said to lie in '\.\./\.\./x\.bin', outside the model's folder"):
            OnnxEmbedder(beside)


def test_the_name_keeps_the_path_as_given(mean_colour: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = mean_colour()
    monkeypatch.chdir(path.parent)
    embedder = OnnxEmbedder.from_argument("model.onnx?std=0.5&mean=0.5,0.5,0.25")
    assert embedder.name == "onnx:model.onnx?mean=0.5,0.5,0.25&std=0.5"


def test_a_file_with_a_question_mark_in_its_name(mean_colour: Save) -> None:
    path = mean_colour(name="which?.onnx")
    embedder = OnnxEmbedder.from_argument(f"{path}?")
    assert embedder.name == f"onnx:{path}?"
    assert OnnxEmbedder.from_argument(embedder.name.removeprefix("onnx:")).dimension == 3
