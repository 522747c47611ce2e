"""From sources to vectors: order, accounts, overlap, bounds, and what happens when something goes wrong."""

import hashlib
import io
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from visual_search.errors import DimensionError, InputError, NonFiniteError
from visual_search.images.decoding import DecodedImage, DecodingRules
from visual_search.images.image_source import ImageSource
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.embedding import EmbeddedBatch, embed_images, embed_sources
from visual_search.indexing.progress import Throughput


class Scripted:
    """An embedder of mean colours that does what a test says on the way."""

    name, dimension, preprocessing, weights_hash, batch_size = "scripted", 3, "mean colour", None, 4

    def __init__(self) -> None:
        self.decode_size: tuple[int, int] | None = None
        self.on_prepare: Callable[[int], None] = lambda _: None
        self.on_embed: Callable[[npt.NDArray[Any]], npt.NDArray[Any] | None] = lambda _: None
        self.sizes: list[int] = []

    def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
        mean: npt.NDArray[Any] = np.asarray(image, dtype=np.float32).mean((0, 1))
        self.on_prepare(round(float(mean[0])))
        return mean

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        self.sizes.append(len(batch))
        said = self.on_embed(batch)
        return batch.copy() if said is None else said


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def sources(tmp_path: Path) -> list[ImageSource]:
    """Twenty-one images; the mean red of the n-th is n."""
    made = []
    for number in range(21):
        path = tmp_path / f"{number}.png"
        Image.new("RGB", (3, 2), (number, 100, 200)).save(path)
        made.append(ImageSource(path.name, path))
    return made


def broken(tmp_path: Path, count: int) -> list[ImageSource]:
    made = []
    for number in range(count):
        path = tmp_path / f"broken{number}.jpg"
        path.write_text(f"no image {number}")
        made.append(ImageSource(path.name, path))
    return made


def numbers(batches: list[EmbeddedBatch]) -> list[int]:
    return [round(float(row[0])) for batch in batches for row in batch.vectors]


def decoding_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("decode")]


class TestOrderAndAccounts:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    @pytest.mark.parametrize("size", [1, 4, 7, 21, 100])
    def test_results_come_as_the_sources_whatever_the_threads(
        self, sources: list[ImageSource], scripted: Scripted, threads: int, size: int
    ) -> None:
        delays = np.random.default_rng(threads).permutation(21) / 5000
        scripted.on_prepare = lambda number: time.sleep(float(delays[number]))
        batches = list(embed_sources(sources, scripted, batch_size=size, decode_threads=threads))
        assert [image_id for batch in batches for image_id in batch.ids] == [source.id for source in sources]
        assert numbers(batches) == list(range(21))
        assert [len(batch.ids) for batch in batches] == [size] * (21 // size) + [21 % size] * bool(21 % size)

    def test_vectors_are_those_of_one_image_at_a_time(self, sources: list[ImageSource]) -> None:
        embedder = PixelEmbedder()
        batches = list(embed_sources(sources, embedder, batch_size=5))
        images = [Image.open(source.path).convert("RGB") for source in sources]
        one = np.concatenate([embedder.embed(embedder.prepare(image)[None]) for image in images])
        assert np.array_equal(np.concatenate([batch.vectors for batch in batches]), one)
        assert np.array_equal(embed_images(images, embedder), one)

    def test_every_source_is_entered_once_in_order(
        self, sources: list[ImageSource], scripted: Scripted, tmp_path: Path
    ) -> None:
        bad = broken(tmp_path, 3)
        gone = ImageSource("gone.png", tmp_path / "gone.png")
        mixed = [bad[0], *sources[:6], bad[1], gone, *sources[6:], bad[2]]
        batches = list(embed_sources(mixed, scripted))
        entries = [entry for batch in batches for entry in batch.entries]
        assert [entry.id for entry in entries] == [source.id for source in mixed]
        assert {entry.id: entry.reason for entry in entries if entry.status == "left_out"} == {
            "broken0.jpg": "not an image: text",
            "broken1.jpg": "not an image: text",
            "broken2.jpg": "not an image: text",
            "gone.png": "no such file",
        }
        for batch in batches:
            assert tuple(entry.id for entry in batch.entries if entry.status == "used") == batch.ids
        assert entries[0].sha256 == hashlib.sha256(b"no image 0").hexdigest()
        assert entries[1].sha256 == hashlib.sha256(sources[0].path.read_bytes()).hexdigest()
        assert [len(batch.ids) for batch in batches[:-1]] == [4] * 5

    def test_nothing_in_nothing_out(self, scripted: Scripted) -> None:
        assert list(embed_sources([], scripted)) == []
        assert embed_images([], scripted).shape == (0, 3)

    def test_a_folder_of_other_things_gives_entries_now_and_then(self, scripted: Scripted, tmp_path: Path) -> None:
        batches = list(embed_sources(broken(tmp_path, 40), scripted, batch_size=2))
        assert [len(batch.entries) for batch in batches] == [16, 16, 8]
        assert all(batch.ids == () and batch.vectors.shape == (0, 3) for batch in batches)
        assert scripted.sizes == []

    def test_rules_are_kept(self, sources: list[ImageSource], scripted: Scripted) -> None:
        (batch,) = embed_sources(sources[:2], scripted, rules=DecodingRules(max_pixels=5))
        assert batch.ids == ()
        assert "max_pixels=5" in str(batch.entries[0].reason)

    def test_jpegs_are_decoded_for_the_size_the_embedder_wants(self, scripted: Scripted, tmp_path: Path) -> None:
        Image.new("RGB", (800, 600), "teal").save(tmp_path / "large.jpg")
        source = ImageSource("large.jpg", tmp_path / "large.jpg")
        (whole,) = embed_sources([source], scripted)
        assert whole.entries[0].changes == ()
        scripted.decode_size = (100, 100)
        (reduced,) = embed_sources([source], scripted)
        assert reduced.entries[0].changes == ("decoded smaller: 1/2",)
        assert (reduced.entries[0].width, reduced.entries[0].height) == (800, 600)

    def test_decoded_images_are_shown_to_who_asks(self, sources: list[ImageSource], tmp_path: Path) -> None:
        seen: dict[str, tuple[int, int]] = {}

        def note(source: ImageSource, decoded: DecodedImage) -> None:
            seen[source.id] = decoded.pixels.size

        mixed = [*sources, *broken(tmp_path, 1)]
        list(embed_sources(mixed, Scripted(), on_decoded=note))
        assert seen == {source.id: (3, 2) for source in sources}


class TestOverlapAndBounds:
    def test_decoding_goes_on_while_a_batch_is_embedded(
        self, sources: list[ImageSource], scripted: Scripted
    ) -> None:
        beyond = threading.Event()
        scripted.on_prepare = lambda number: beyond.set() if number >= 8 else None
        waited: list[bool] = []

        def wait_for_the_next_batch(_: Any) -> None:
            if not waited:
                waited.append(beyond.wait(timeout=30))

        scripted.on_embed = wait_for_the_next_batch
        list(embed_sources(sources, scripted, batch_size=4, decode_threads=1))
        assert waited == [True]

    @pytest.mark.parametrize("threads", [1, 3])
    def test_no_more_is_prepared_ahead_than_stated(
        self, sources: list[ImageSource], scripted: Scripted, threads: int
    ) -> None:
        prepared, ahead, size = [0], [], 2
        lock = threading.Lock()

        def count(_: int) -> None:
            with lock:
                prepared[0] += 1

        def note(_: Any) -> None:
            time.sleep(0.02)  # let the threads run as far as they may
            ahead.append(prepared[0] - sum(scripted.sizes[:-1]))

        scripted.on_prepare, scripted.on_embed = count, note
        list(embed_sources(sources, scripted, batch_size=size, decode_threads=threads))
        assert max(ahead) <= 3 * size + threads
        assert max(ahead) > size  # or nothing would overlap

    def test_sources_are_taken_as_needed(self, sources: list[ImageSource], scripted: Scripted) -> None:
        taken = [0]

        def listing() -> Iterator[ImageSource]:
            for source in sources:
                taken[0] += 1
                yield source

        batches = embed_sources(listing(), scripted, batch_size=2, decode_threads=1)
        assert taken[0] == 0
        next(batches)
        assert taken[0] <= 3 * 2 + 1
        batches.close()  # type: ignore[attr-defined] # it is a generator
        assert decoding_threads() == []

    def test_one_memory_serves_all_batches(self, sources: list[ImageSource], scripted: Scripted) -> None:
        seen: list[npt.NDArray[Any]] = []
        scripted.on_embed = seen.append
        list(embed_sources(sources, scripted))
        assert len(seen) == 6
        assert all(np.shares_memory(seen[0], other) for other in seen[1:])


class TestWhenSomethingGoesWrong:
    def test_an_error_of_prepare_names_the_image_and_ends_the_threads(
        self, sources: list[ImageSource], scripted: Scripted
    ) -> None:
        def fail(number: int) -> None:
            if number == 6:
                raise ZeroDivisionError("in prepare")

        scripted.on_prepare = fail
        batches = embed_sources(sources, scripted)
        assert next(batches).ids == ("0.png", "1.png", "2.png", "3.png")
        with pytest.raises(ZeroDivisionError, match="in prepare") as raised:
            next(batches)
        assert raised.value.__notes__ == ["while embedding 6.png"]
        assert decoding_threads() == []

    def test_an_error_of_embed_names_the_images_and_ends_the_threads(
        self, sources: list[ImageSource], scripted: Scripted
    ) -> None:
        def fail(_: Any) -> None:
            raise MemoryError("in embed")

        scripted.on_embed = fail
        with pytest.raises(MemoryError, match="in embed") as raised:
            list(embed_sources(sources, scripted))
        assert raised.value.__notes__ == ["while embedding 0.png to 3.png"]
        assert decoding_threads() == []

    def test_an_error_of_who_looks_at_decoded_images_is_not_swallowed(self, sources: list[ImageSource]) -> None:
        def fail(source: ImageSource, _: DecodedImage) -> None:
            raise OSError(f"disk full at {source.id}")

        with pytest.raises(OSError, match="disk full"):
            list(embed_sources(sources, Scripted(), on_decoded=fail))

    def test_an_error_of_the_listing_ends_the_threads(self, sources: list[ImageSource], scripted: Scripted) -> None:
        def listing() -> Iterator[ImageSource]:
            yield from sources[:3]
            raise ConnectionError("share gone")

        with pytest.raises(ConnectionError, match="share gone"):
            list(embed_sources(listing(), scripted))
        assert decoding_threads() == []

    def test_an_interrupt_between_batches_ends_the_threads(
        self, sources: list[ImageSource], scripted: Scripted
    ) -> None:
        def interrupt(_: Any) -> None:
            raise KeyboardInterrupt

        scripted.on_embed = interrupt
        with pytest.raises(KeyboardInterrupt):
            list(embed_sources(sources, scripted))
        assert decoding_threads() == []

    def test_vectors_that_are_not_finite_name_their_images(
        self, sources: list[ImageSource], scripted: Scripted
    ) -> None:
        def spoil(batch: npt.NDArray[Any]) -> npt.NDArray[Any]:
            vectors = batch.copy()
            vectors[batch[:, 0] == 5, 1] = np.nan
            vectors[batch[:, 0] == 7, 2] = np.inf
            return vectors

        scripted.on_embed = spoil
        with pytest.raises(NonFiniteError, match=r"the vectors of 2 images, first: '5\.png', '7\.png'; leave"):
            list(embed_sources(sources, scripted))
        with pytest.raises(NonFiniteError, match=r"first: '1'"):
            embed_images([Image.new("RGB", (2, 2), (number, 0, 0)) for number in (4, 5)], scripted)

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda batch: batch[:, :2].copy(),
            lambda batch: batch[:-1].copy(),
            lambda batch: batch.astype(np.float64),
        ],
    )
    def test_vectors_of_another_shape_or_type_are_refused(
        self, sources: list[ImageSource], scripted: Scripted, wrong: Callable[[Any], Any]
    ) -> None:
        scripted.on_embed = wrong
        with pytest.raises(
            DimensionError, match=r"'scripted': gave float(32|64) .* float32 \(4, 3\) was agreed on"
        ):
            list(embed_sources(sources, scripted))

    def test_prepared_images_of_different_shape_are_refused(self, tmp_path: Path) -> None:
        class Unequal(Scripted):
            def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
                return np.zeros(image.width, dtype=np.float32)

        made = []
        for width in (3, 4):
            Image.new("RGB", (width, 2)).save(tmp_path / f"{width}.png")
            made.append(ImageSource(f"{width}.png", tmp_path / f"{width}.png"))
        with pytest.raises(
            InputError, match=r"prepared '4\.png' as float32 \(4,\), images before it as float32 \(3,\)"
        ):
            list(embed_sources(made, Unequal()))

    @pytest.mark.parametrize("argument", ["batch_size", "decode_threads"])
    def test_numbers_below_one_are_refused_at_once(self, scripted: Scripted, argument: str) -> None:
        with pytest.raises(InputError, match=f"{argument} 0 is not allowed; give at least 1"):
            embed_sources([], scripted, **{argument: 0})  # type: ignore[arg-type] # either of two numbers


def test_ctrl_c_ends_a_run_promptly(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1500, 2000, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG", compress_level=1)
    (tmp_path / "slow.png").write_bytes(stream.getvalue())
    code = f"""
from pathlib import Path
from visual_search.images.image_source import ImageSource
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.embedding import embed_sources
sources = [ImageSource(str(n), Path({str(tmp_path / "slow.png")!r})) for n in range(100_000)]
for batch in embed_sources(sources, PixelEmbedder(), batch_size=2):
    print("batch", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "batch\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT


class TestProgress:
    def test_is_told_the_total_and_every_image(self, sources: list[ImageSource], tmp_path: Path) -> None:
        throughput = Throughput()
        mixed = [*sources, *broken(tmp_path, 2)]
        done = [throughput.done for _ in embed_sources(mixed, Scripted(), progress=throughput)]
        assert throughput.total == 23
        assert done == [4, 8, 12, 16, 20, 23]

    def test_does_not_guess_a_total(self, sources: list[ImageSource]) -> None:
        throughput = Throughput()
        list(embed_sources(iter(sources), Scripted(), progress=throughput))
        assert throughput.total is None
        assert throughput.seconds_left is None
        assert throughput.done == 21

    def test_says_nothing_before_the_first_image(self) -> None:
        throughput = Throughput(clock=lambda: 5.0)
        throughput.start(10)
        assert throughput.images_per_second == 0
        assert throughput.seconds_left is None
