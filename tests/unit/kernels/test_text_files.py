"""Blocks of whole lines, however a file comes."""

import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from visual_search.errors import FileFormatError, InputError
from visual_search.kernels import text_files
from visual_search.kernels.text_files import LongLineError, TextFile
from visual_search.kernels.threads import thread_count

TEXT = b"".join(b"line %d %s\n" % (number, b"x" * (number % 50)) for number in range(2000))


def read(text: TextFile) -> bytes:
    with text:
        return b"".join(block.tobytes() for block in text.blocks())


@pytest.fixture(params=[70, 1 << 20])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("small_blocks")
def test_every_block_ends_with_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(TEXT)
    with TextFile(tmp_path / "file") as text:
        blocks = [block.tobytes() for block in text.blocks()]
    assert b"".join(blocks) == TEXT
    assert all(block.endswith(b"\n") for block in blocks)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "text", [b"", b"a", b"a\nb", b"\n", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbf", b"a\r\n\xef\xbb\xbf\n"]
)
def test_last_line_gets_its_end_and_a_byte_order_mark_goes(text: bytes) -> None:
    wanted = text.removeprefix(b"\xef\xbb\xbf")
    wanted += b"" if (not wanted and not text) or wanted.endswith(b"\n") else b"\n"
    assert read(TextFile(io.BytesIO(text))) == wanted


@pytest.mark.parametrize("count", [1, 2, 3, 7, 500])
def test_spans_are_parts_that_begin_with_lines(count: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(TEXT)
    with TextFile(tmp_path / "file") as text:
        spans = text.spans(1, count)
        parts = [b"".join(block.tobytes() for block in text.blocks(span)) for span in spans]
    assert len(spans) == count
    assert b"".join(parts) == TEXT
    assert all(part.startswith(b"line") for part in parts)


def test_small_files_streams_and_gzip_are_one_span(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(TEXT)
    (tmp_path / "file.gz").write_bytes(gzip.compress(TEXT))
    with TextFile(tmp_path / "file") as text:
        assert len(text.spans(1 << 20, 8)) == 1
    for source in (tmp_path / "file.gz", io.BytesIO(TEXT)):
        with TextFile(source) as text:
            assert text.spans(1, 8) == [(0, None)]


def test_can_be_read_again_unless_it_is_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(gzip.compress(TEXT))
    stream = io.BytesIO(b"skipped" + TEXT)
    stream.seek(7)
    for source in (tmp_path / "file.gz", stream):
        with TextFile(source) as text:
            assert text.rewinds
            assert [b"".join(block.tobytes() for block in text.blocks()) for _ in range(2)] == [TEXT, TEXT]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(TEXT))
    writer.start()
    with TextFile(pipe) as text:
        assert not text.rewinds
        assert text.spans(1, 8) == [(0, None)]
        assert b"".join(block.tobytes() for block in text.blocks()) == TEXT
    writer.join()


def test_stream_stays_open_and_path_is_closed(tmp_path: Path) -> None:
    stream = io.BytesIO(TEXT)
    assert read(TextFile(stream)) == TEXT
    assert not stream.closed
    with pytest.raises(InputError, match="a path or a stream of bytes is needed"):
        TextFile(7)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        TextFile(tmp_path / "nothing")


def test_long_line_and_damaged_gzip(tmp_path: Path) -> None:
    with pytest.raises(LongLineError):
        read(TextFile(io.BytesIO(b"a\n" + b"x" * (3 << 20))))
    packed = bytearray(gzip.compress(os.urandom(50_000)))
    for damaged in (packed[:-20], packed[:5000] + b"\0" * 100 + packed[5100:]):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(FileFormatError, match="a damaged gzip file"):
            read(TextFile(tmp_path / "damaged"))


def test_number_of_threads_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL_SEARCH_THREADS", "3")
    assert thread_count() == 3
    for strange in ("0", "-1", "many", ""):
        monkeypatch.setenv("VISUAL_SEARCH_THREADS", strange)
        assert thread_count() >= 1
