"""A decoding thread hears no warnings, and nobody else notices."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable

import pytest
from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images import decoding
from visual_search.images.decoding import decode
from visual_search.images.pillow_warnings import quiet_pillow

Encode = Callable[..., bytes]


def test_quiet_inside_and_as_before_outside() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.warn("before", stacklevel=1)
        with quiet_pillow():
            warnings.warn("inside", stacklevel=1)
            with quiet_pillow():
                warnings.warn("further inside", DeprecationWarning, stacklevel=1)
            warnings.warn("still inside", stacklevel=1)
        warnings.warn("after", stacklevel=1)
    assert [str(warning.message) for warning in heard] == ["before", "after"]


def test_errors_made_of_warnings_stay_errors_outside() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet_pillow():
            warnings.warn("inside", stacklevel=1)
        with pytest.raises(UserWarning, match="outside"):
            warnings.warn("outside", stacklevel=1)


def test_an_error_inside_ends_the_quiet() -> None:
    with pytest.raises(KeyError), quiet_pillow():
        raise KeyError
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.warn("heard", stacklevel=1)
    assert len(heard) == 1


def test_only_the_decoding_thread_is_quiet() -> None:
    heard: list[str] = []
    inside, done = threading.Event(), threading.Event()

    def decoding() -> None:
        with quiet_pillow():
            inside.set()
            done.wait(10)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thread = threading.Thread(target=decoding)
        thread.start()
        inside.wait(10)
        try:
            warnings.warn("another thread", stacklevel=1)
        except UserWarning as warning:
            heard.append(str(warning))
        done.set()
        thread.join()
    assert heard == ["another thread"]


def test_filters_do_not_pile_up() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with quiet_pillow():
            pass
        length = len(warnings.filters)
        for _ in range(50):
            warnings.simplefilter("always")  # moves to the front again
            with quiet_pillow():
                pass
        assert len(warnings.filters) == length


def test_filters_changed_in_the_middle_of_a_decoding(
    encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 48 * 36 - 1)  # a TIFF as large as this makes Pillow warn
    data = encode(photograph, "TIFF")
    meddled: list[bool] = []

    def meddling(*_: object) -> None:
        if not meddled:
            meddled.append(True)
            warnings.simplefilter("error")

    monkeypatch.setattr(decoding, "check_structure", meddling)
    with warnings.catch_warnings():
        assert decode(data).pixels.tobytes() == photograph.tobytes()
    assert meddled == [True]


def test_filters_that_never_rest_end_in_a_reason(
    encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 48 * 36 - 1)
    monkeypatch.setattr(decoding, "check_structure", lambda *_: warnings.simplefilter("error"))
    with warnings.catch_warnings(), pytest.raises(UndecodableImageError, match="turning warnings into errors"):
        decode(encode(photograph, "TIFF"))


def test_many_threads_and_changing_filters(
    encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 48 * 36 - 1)
    data = [encode(photograph, name) for name in ("TIFF", "GIF", "PNG", "JPEG")]
    expected = [decode(each).pixels.tobytes() for each in data]
    wrong: list[object] = []

    def decoding_thread() -> None:
        for _ in range(40):
            for each, pixels in zip(data, expected, strict=True):
                try:
                    if decode(each).pixels.tobytes() != pixels:
                        wrong.append("pixels")
                except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
                    wrong.append(error)

    threads = [threading.Thread(target=decoding_thread) for _ in range(4)]
    with warnings.catch_warnings(record=True) as heard:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            warnings.simplefilter("always")  # as other code does meanwhile
            time.sleep(0.002)
        for thread in threads:
            thread.join()
        warnings.warn("still heard", stacklevel=1)
    assert wrong == []
    assert "still heard" in [str(warning.message) for warning in heard]
