"""``visual-search search``."""

from __future__ import annotations

import argparse
import os
import webbrowser
from pathlib import Path

from visual_search.cli.options import add_json, print_json, stderr
from visual_search.errors import InputError

SUMMARY = "Find the images of an index most like an image, an item of the index, or words."
EXAMPLE = """\
  visual-search search photos.index holiday.jpg -k 5
  visual-search search photos.index --id beach/012.jpg --open
  visual-search search photos.index --text 'a red bicycle'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("index", metavar="INDEX", help="folder that 'visual-search index' wrote")
    parser.add_argument("image", metavar="QUERY", nargs="?", help="an image file")
    parser.add_argument("--id", help="search by an item of the index; it is itself left out")
    parser.add_argument("--text", help="search by words, where the index's model takes them")
    parser.add_argument("-k", "--k", type=int, default=10, help="how many results")
    parser.add_argument(
        "--hide-near-duplicates",
        type=float,
        default=None,
        metavar="COSINE",
        help="hide results at least this similar to one ranked above them",
    )
    parser.add_argument("--open", action="store_true", help="write a page with the pictures, and open it")
    parser.add_argument("--page", metavar="FILE", help="write that page to FILE instead of beside the index")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Search, print, and write the page if asked."""
    given = [name for name in ("image", "id", "text") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise InputError(f"give one of: an image file, --id ITEM, --text WORDS; got {len(given)}")
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.search_index import search_index

    page = Path(arguments.page or f"{os.fspath(arguments.index).rstrip('/')}.search.html")
    if page.is_dir():
        raise InputError(f"--page: {page} is a folder; give a file, such as found.html")
    refuse_overwriting({"--page": page}, [arguments.index, arguments.image])
    found = search_index(
        arguments.index,
        image=arguments.image,
        item=arguments.id,
        text=arguments.text,
        k=arguments.k,
        hide_near_duplicates=arguments.hide_near_duplicates,
    )
    if arguments.json:
        print_json(found.as_json())
    else:
        for result in found.response:
            print(f"{result.rank:>4}  {result.score:>10.6f}  {result.image_id}")
        for note in found.notes():
            stderr().print(note, markup=False)
    if arguments.open or arguments.page:
        found.write_page(page)
        stderr().print(f"page: {page}", markup=False)
        if arguments.open:
            webbrowser.open(page.absolute().as_uri())
    return 0
