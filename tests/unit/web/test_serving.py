"""The server itself, over a socket: what the in-process client cannot show."""

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.indexing.index_table import VectorIndex
from visual_search.testing.sample_pool import sample_pool
from visual_search.web.app import create_app
from visual_search.web.serving import serve
from visual_search.web.settings import ExplorerSettings

LONGEST = "猫" * 10_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The verb in a process of its own, and the address it printed."""
    index = VectorIndex(dimension=4)
    index.add([LONGEST, "b", "c"], np.eye(3, 4))
    path = tmp_path_factory.mktemp("served") / "long.index"
    index.save(path)
    command = [sys.executable, "-m", "visual_search", "serve", "--index", str(path), "--port", "0", "--json"]
    command += ["--token", "auto"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = "".join(process.stdout.readline() for _ in range(3))
        yield process, json.loads(lines)["address"]
        process.terminate()
        process.wait(timeout=20)


def ask(address: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    token = place.query.removeprefix("token=")
    connection.request(method, path, body, {"Authorization": f"Bearer {token}", **headers})  # type: ignore[arg-type]
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_the_longest_id_in_the_widest_letters_is_asked_for(served: tuple[subprocess.Popen[str], str]) -> None:
    status, body = ask(served[1], "GET", f"/search.json?item={quote(LONGEST)}")
    assert status == 200
    assert json.loads(body)["query"]["name"] == LONGEST


def test_the_printed_address_has_the_token_and_without_it_nothing_is_served(
    served: tuple[subprocess.Popen[str], str],
) -> None:
    assert "?token=" in served[1]
    assert ask(served[1], "GET", "/search.json", Authorization="Bearer wrong-token-of-some-length")[0] == 401


PART = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="x.png"\r\n\r\n'


@pytest.mark.parametrize("declared", [True, False])
def test_a_hundred_megabytes_leave_no_mark_on_memory(
    served: tuple[subprocess.Popen[str], str], declared: bool
) -> None:
    process, address = served
    ask(address, "GET", "/search.json")
    before = settled(process.pid)
    pieces = [PART, *[bytes(1 << 20)] * 100]
    if declared:
        headers = {"Content-Length": str(sum(map(len, pieces)))}
    else:
        pieces = [*(b"%x\r\n%b\r\n" % (len(one), one) for one in pieces), b"0\r\n\r\n"]
        headers = {"Transfer-Encoding": "chunked"}
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    status, answer = ask(address, "POST", "/search/upload", iter(pieces), **form, **headers)
    assert (status, json.loads(answer)["error"]["kind"]) == (413, "TooLarge")
    assert resident(process.pid) - before < 60 << 20


def settled(process: int) -> int:
    """The same once what is done ahead of the first visitor is done: unchanged for two seconds."""
    found = resident(process)
    for _ in range(30):
        time.sleep(2)
        now = resident(process)
        if now == found:
            break
        found = now
    return found


def resident(process: int) -> int:
    """Bytes of memory that a process has held at most."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


@pytest.mark.parametrize("verb", ["serve", "judge"])
def test_a_server_gets_ready_without_a_word(verb: str, tmp_path: Path) -> None:
    """What is done ahead, in a thread, would fail on standard error alone."""
    words = ["serve", str(tmp_path)]
    if verb == "judge":
        pool = sample_pool(tmp_path, queries=1, depth=2)
        words = ["judge", "serve", str(pool), "--judgements", str(tmp_path / "j.db")]
    command = [sys.executable, "-m", "visual_search", *words, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = ""
        while "address" not in told or not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        assert ask(json.loads(told)["address"], "GET", "/static/look.css")[0] == 200
        time.sleep(1)  # what is done ahead has its turn
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert said == "stopped\n"


def test_a_port_that_is_taken_is_told(served: tuple[subprocess.Popen[str], str]) -> None:
    settings = ExplorerSettings()
    port = urlsplit(served[1]).port or 0
    with pytest.raises(InputError, match="cannot be listened on"):
        serve(create_app(settings), settings, port, print)
    with pytest.raises(InputError, match="port=99999"):
        serve(create_app(settings), settings, 99999, print)


def test_beyond_loopback_the_verb_refuses_to_start_without_a_token(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "visual_search", "serve", "--host", "0.0.0.0", "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env={"PATH": ""})
    assert ended.returncode == 2
    assert "a token is needed" in ended.stderr
