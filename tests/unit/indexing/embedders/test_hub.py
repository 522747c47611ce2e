"""The hub embedders' own logic, against small stand-ins that refuse what the real libraries refuse.

tools/check_hub_embedders.py runs the same code against the real ones.
"""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError, MissingDependencyError
from visual_search.indexing.embedders.contract import Embedder, TextEmbedder
from visual_search.indexing.embedders.hub_packages import processor_in_words, settings_in_words
from visual_search.indexing.embedders.open_clip_hub import OpenClipEmbedder
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.embedders.timm_hub import TimmEmbedder
from visual_search.indexing.embedders.torch_model import hash_of_state

SIDE = 4
PIXELS = 3 * SIDE * SIDE
DIMENSION = 6

Install = Callable[..., ModuleType]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a module with the attributes given where ``import`` finds it."""

    def put(name: str, **attributes: Any) -> ModuleType:
        module = ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return put


def pictures(count: int = 3) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)) for _ in range(count)]


def shrunk(image: Image.Image) -> np.ndarray:
    """What every stand-in's transform does to an image: float32 of shape (3, SIDE, SIDE)."""
    return np.asarray(image.resize((SIDE, SIDE)), dtype=np.float32).transpose(2, 0, 1) / 255


def expected(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    product = rows.reshape(len(rows), -1) @ weights[: rows[0].size]
    return np.asarray(product / np.linalg.norm(product, axis=1, keepdims=True))


def check_images(embedder: Embedder, weights: np.ndarray) -> None:
    prepared = np.stack([embedder.prepare(image) for image in pictures()])
    assert prepared.dtype == np.float32
    vectors = embedder.embed(prepared)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(np.stack([shrunk(i) for i in pictures()]), weights), rtol=1e-5)
    assert embedder.dimension == DIMENSION
    assert embedder.weights_hash is not None
    assert embedder.weights_hash.startswith("sha256:")


class TestTimm:
    @pytest.fixture(autouse=True)
    def timm(self, torch: ModuleType, fakes: SimpleNamespace, install: Install) -> None:
        class Network(fakes.Module):  # type: ignore[misc, name-defined] # a class from a fixture
            num_features = DIMENSION
            __call__ = fakes.Module.project

        def create_model(name: str, *, pretrained: bool, num_classes: int) -> Any:
            if name != "small":
                raise RuntimeError(f"Unknown model ({name})")
            assert num_classes == 0
            return Network(1 if pretrained else 2, PIXELS, DIMENSION)

        config = {
            "input_size": (3, SIDE, SIDE),
            "interpolation": "bicubic",
            "mean": (0.5, 0.5, 0.5),
            "crop_pct": 0.9,
        }

        def create_transform(*, is_training: bool, **given: Any) -> Any:
            assert not is_training
            assert given == config
            return lambda image: fakes.Tensor(shrunk(image))

        self.weights = Network(1, PIXELS, DIMENSION).weights.array
        install("timm", create_model=create_model)
        install("timm.data", resolve_model_data_config=lambda _: dict(config), create_transform=create_transform)

    def test_images(self) -> None:
        embedder = create_embedder("timm:small")
        check_images(embedder, self.weights)
        assert embedder.name == "timm:small"
        assert not isinstance(embedder, TextEmbedder)
        assert embedder.preprocessing == (
            "timm evaluation transform: crop_pct=0.9, input_size=[3, 4, 4], interpolation=bicubic, "
            "mean=[0.5, 0.5, 0.5]; L2-normalised output"
        )

    def test_the_hash_is_that_of_the_weights(self) -> None:
        assert TimmEmbedder("small").weights_hash == TimmEmbedder("small").weights_hash
        assert TimmEmbedder("small").weights_hash != TimmEmbedder("small", pretrained=False).weights_hash

    def test_an_unknown_model(self) -> None:
        with pytest.raises(
            InputError, match=r"'timm:large' cannot be loaded: Unknown model \(large\); timm\.list_models"
        ):
            create_embedder("timm:large")
        with pytest.raises(InputError, match="an argument is needed, for example 'timm:resnet50'"):
            create_embedder("timm")


class TestOpenClip:
    @pytest.fixture(autouse=True)
    def open_clip(self, torch: ModuleType, fakes: SimpleNamespace, install: Install) -> None:
        class Network(fakes.Module):  # type: ignore[misc, name-defined] # a class from a fixture
            visual = SimpleNamespace(image_size=SIDE)
            encode_image = fakes.Module.project
            encode_text = fakes.Module.project

        def create(model: str, *, pretrained: str | None) -> Any:
            if pretrained not in (None, "tag"):
                raise RuntimeError(f"Pretrained value '{pretrained}' is not a known tag or valid file path")
            self.asked.append(model)
            network = Network(1 if pretrained else 2, PIXELS, DIMENSION)
            return network, "transform for training", lambda image: fakes.Tensor(shrunk(image))

        def tokens(texts: list[str]) -> Any:
            return fakes.Tensor(np.array([[len(text), len(text.split())] for text in texts]))

        self.asked: list[str] = []
        self.weights = Network(1, PIXELS, DIMENSION).weights.array
        install(
            "open_clip",
            create_model_and_transforms=create,
            get_tokenizer=lambda _: tokens,
            get_model_preprocess_cfg=lambda _: {"size": SIDE, "mode": "RGB"},
        )

    def test_images_and_text(self) -> None:
        embedder = create_embedder("open_clip:ViT-B-32/tag")
        check_images(embedder, self.weights)
        assert embedder.name == "open_clip:ViT-B-32/tag"
        assert isinstance(embedder, TextEmbedder)
        texts = ["a cat", "two red cars"]
        rows = np.array([[5, 2], [12, 3]], dtype=np.float32)
        np.testing.assert_allclose(embedder.embed_text(texts), expected(rows, self.weights), rtol=1e-5)
        assert "mode=RGB, size=4" in embedder.preprocessing

    def test_a_model_of_a_hub_carries_its_weights(self) -> None:
        assert create_embedder("open_clip:hf-hub:owner/name").name == "open_clip:hf-hub:owner/name"
        assert self.asked == ["hf-hub:owner/name"]

    def test_missing_and_unknown_weights(self) -> None:
        for text in ("open_clip:ViT-B-32", "open_clip:ViT-B-32/"):
            with pytest.raises(InputError, match=r"the weights are missing; write MODEL/WEIGHTS"):
                create_embedder(text)
        with pytest.raises(InputError, match=r"not a known tag .*open_clip\.list_pretrained"):
            create_embedder("open_clip:ViT-B-32/none")

    def test_weights_may_be_a_file(self) -> None:
        with pytest.raises(InputError, match=r"'/folder/weights\.pt' is not a known tag"):
            create_embedder("open_clip:ViT-B-32//folder/weights.pt")

    def test_random_weights_have_another_hash(self) -> None:
        assert OpenClipEmbedder("ViT-B-32").weights_hash != OpenClipEmbedder("ViT-B-32", "tag").weights_hash


class TestTransformers:
    @pytest.fixture(autouse=True)
    def transformers(  # noqa: C901 - one stand-in for one package
        self, torch: ModuleType, fakes: SimpleNamespace, install: Install
    ) -> None:
        self.fakes = fakes
        self.outputs = "wrapped"
        text_config = SimpleNamespace(max_position_embeddings=5)
        two_towers = SimpleNamespace(text_config=text_config, vision_config=SimpleNamespace())
        self.asked: list[tuple[str, str]] = []

        class Towers(fakes.Module):  # type: ignore[misc, name-defined] # a class from a fixture
            config = two_towers

            def get_image_features(this, *, pixel_values: Any) -> Any:  # noqa: N805 - self is the test
                return self.wrapped(this.project(pixel_values))

            def get_text_features(this, *, input_ids: Any) -> Any:  # noqa: N805
                return self.wrapped(this.project(input_ids))

        class Vision(fakes.Module):  # type: ignore[misc, name-defined] # a class from a fixture
            config = SimpleNamespace()

            def __call__(this, *, pixel_values: Any) -> Any:  # noqa: N805
                product = this.project(pixel_values)
                if self.outputs == "pooled":
                    return SimpleNamespace(pooler_output=product.reshape(-1, DIMENSION, 1, 1))
                tokens = np.stack([product.array, product.array * 0 + 1], axis=1)
                if self.outputs == "tokens":
                    return SimpleNamespace(
                        pooler_output=None, last_hidden_state=fakes.Tensor(tokens, product.device)
                    )
                maps = np.stack([product.array] * 6, axis=2).reshape(len(tokens), DIMENSION, 2, 3)
                return SimpleNamespace(last_hidden_state=fakes.Tensor(maps, product.device))

        class Auto:
            def __init__(this, make: Callable[[str], Any]) -> None:  # noqa: N805
                this.make = make

            def from_pretrained(this, place: str, *, revision: str = "main") -> Any:  # noqa: N805
                if place not in ("owner/clip", "owner/vit", "owner/odd"):
                    raise OSError(f"{place} is not a local folder and is not a valid model identifier")
                self.asked.append((place, revision))
                return this.make(place)

        def processor(*, images: Image.Image, return_tensors: str) -> dict[str, Any]:
            assert return_tensors == "np"
            return {"pixel_values": shrunk(images)[None]}

        def tokenizer(
            texts: list[str], *, padding: str, max_length: int, truncation: bool, return_tensors: str
        ) -> Any:
            assert (padding, max_length, truncation, return_tensors) == ("max_length", 5, True, "pt")
            return {"input_ids": fakes.Tensor(np.array([[len(text), 1] for text in texts]))}

        def network(place: str) -> Any:
            return (Towers if place == "owner/clip" else Vision)(1, PIXELS, DIMENSION)

        self.weights = Towers(1, PIXELS, DIMENSION).weights.array
        install(
            "transformers",
            AutoConfig=Auto(lambda place: two_towers if place == "owner/clip" else SimpleNamespace()),
            AutoModel=Auto(network),
            AutoImageProcessor=Auto(
                lambda place: processor if place != "owner/odd" else lambda **_: {"patches": 1}
            ),
            AutoTokenizer=Auto(lambda _: tokenizer),
        )

    def wrapped(self, features: Any) -> Any:
        """Features as Transformers 5 gives them, or as 4 did."""
        return SimpleNamespace(pooler_output=features) if self.outputs == "wrapped" else features

    @pytest.mark.parametrize("outputs", ["wrapped", "bare"])
    def test_two_towers(self, outputs: str) -> None:
        self.outputs = outputs
        embedder = create_embedder("transformers:owner/clip")
        check_images(embedder, self.weights)
        assert isinstance(embedder, TextEmbedder)
        rows = np.array([[5, 1], [3, 1]], dtype=np.float32)
        np.testing.assert_allclose(embedder.embed_text(["a cat", "car"]), expected(rows, self.weights), rtol=1e-5)

    @pytest.mark.parametrize("outputs", ["pooled", "tokens", "maps"])
    def test_one_tower(self, outputs: str) -> None:
        self.outputs = outputs
        embedder = create_embedder("transformers:owner/vit")
        check_images(embedder, self.weights)
        assert not isinstance(embedder, TextEmbedder)

    def test_a_revision(self) -> None:
        assert create_embedder("transformers:owner/vit@v2").name == "transformers:owner/vit@v2"
        assert set(self.asked) == {("owner/vit", "v2")}

    def test_unknown_models_and_odd_processors(self) -> None:
        with pytest.raises(InputError, match=r"owner/none is not a local folder .*names are OWNER/NAME"):
            create_embedder("transformers:owner/none")
        with pytest.raises(InputError, match="makes no single array of pixels"):
            create_embedder("transformers:owner/odd")


class TestSentenceTransformers:
    @pytest.fixture(autouse=True, params=["5.4 and later", "before"])
    def sentence_transformers(
        self, request: pytest.FixtureRequest, torch: ModuleType, fakes: SimpleNamespace, install: Install
    ) -> None:
        self.later = request.param != "before"
        later = self.later

        class CLIPModel:
            processor = SimpleNamespace(
                image_processor=SimpleNamespace(size={"shortest_edge": SIDE, "height": None})
            )

        class Transformer(CLIPModel):
            pass

        class Network(fakes.Module):  # type: ignore[misc, name-defined] # a class from a fixture
            def __init__(this, name: str) -> None:  # noqa: N805
                if name not in ("clip-ViT-B-32", "text", "images", "odd"):
                    raise OSError(f"No sentence-transformers model found with name {name}")
                super().__init__(1, PIXELS, DIMENSION)
                this.name = name
                if later:
                    this.supports = lambda kind: kind != {"text": "image", "images": "text"}.get(name)
                    this.preprocess = this._preprocess
                else:
                    this.tokenize = this._preprocess

            def __getitem__(this, place: int) -> Any:  # noqa: N805
                assert place == 0
                return Transformer() if later or this.name == "text" else CLIPModel()

            def _preprocess(this, inputs: list[Image.Image]) -> dict[str, Any]:  # noqa: N805
                pixels = np.stack([shrunk(image) for image in inputs])
                beside = {"modality": "image"} if later else {"image_text_info": [0] * len(inputs)}
                return {"pixel_values": fakes.Tensor(pixels[None] if this.name == "odd" else pixels), **beside}

            def __call__(this, features: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
                pixels = features["pixel_values"]
                if later:
                    assert features["modality"] == "image"
                else:
                    assert features["image_text_info"] == [0] * len(pixels.array)
                return {**features, "sentence_embedding": this.project(pixels)}

            def encode(this, texts: list[str], *, convert_to_numpy: bool, show_progress_bar: bool) -> np.ndarray:  # noqa: N805
                assert convert_to_numpy
                assert not show_progress_bar
                rows = np.array([[len(text), 1] for text in texts], dtype=np.float32)
                return np.asarray(rows @ this.weights.array[:2])

        self.weights = fakes.Module(1, PIXELS, DIMENSION).weights.array
        install("sentence_transformers", SentenceTransformer=Network)

    def test_images_and_text(self) -> None:
        embedder = create_embedder("clip-ViT-B-32")
        assert embedder.name == "sentence-transformers:clip-ViT-B-32"
        check_images(embedder, self.weights)
        assert isinstance(embedder, TextEmbedder)
        rows = np.array([[5, 1], [3, 1]], dtype=np.float32)
        np.testing.assert_allclose(embedder.embed_text(["a cat", "car"]), expected(rows, self.weights), rtol=1e-5)
        assert "size={shortest_edge=4}" in embedder.preprocessing

    def test_a_model_of_text_alone_is_refused(self) -> None:
        with pytest.raises(InputError, match="takes no images; choose a model with an image tower"):
            create_embedder("sentence-transformers:text")

    def test_a_model_of_images_alone_takes_no_text(self) -> None:
        embedder = create_embedder("sentence-transformers:images")
        assert isinstance(embedder, TextEmbedder) != self.later  # earlier versions had no such models

    def test_odd_processors_and_unknown_models(self) -> None:
        with pytest.raises(InputError, match="makes no single array of pixels"):
            create_embedder("sentence-transformers:odd")
        with pytest.raises(
            InputError, match="No sentence-transformers model found with name none; names are as on"
        ):
            create_embedder("sentence-transformers:none")


@pytest.mark.parametrize(
    "spec",
    ["timm:resnet50", "open_clip:ViT-B-32/tag", "transformers:a/b", "clip-ViT-B-32", "sentence-transformers:x"],
)
def test_without_the_extra_the_command_is_named(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "timm", "open_clip", "transformers", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"run: pip install 'visual-search\[hub\]'"):
        create_embedder(spec)


def test_the_hash_tells_names_types_shapes_and_values_apart(fakes: SimpleNamespace) -> None:
    def state_hash(**arrays: Any) -> str:
        return hash_of_state({name: fakes.Tensor(array) for name, array in arrays.items()}, fakes.Torch())

    values = np.arange(6, dtype=np.float32)
    hashes = [
        state_hash(a=values),
        state_hash(b=values),
        state_hash(a=values.reshape(2, 3)),
        state_hash(a=values.view(np.int32)),
        state_hash(a=values, b=values[:0]),
        state_hash(a=values + 1),
    ]
    assert len(set(hashes)) == len(hashes)
    assert state_hash(a=values, b=values) == state_hash(b=values, a=values.copy())
    assert state_hash(a=np.float32(1)).startswith("sha256:")


def test_words_outlive_the_spelling_of_settings() -> None:
    old = {"size": {"shortest_edge": 224}, "mean": [0.48145466], "resample": 3}
    new = {
        "mean": (0.48145466,),
        "resample": SimpleNamespace(value=3),
        "size": {"shortest_edge": 224, "width": None},
    }
    assert (
        settings_in_words(old) == settings_in_words(new) == "mean=[0.481455], resample=3, size={shortest_edge=224}"
    )
    assert processor_in_words(SimpleNamespace(size=3, other=4)) == "processor=SimpleNamespace, size=3"
