"""Images and their captions, as many as each has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from visual_search.errors import InputError
from visual_search.evaluation.protocols.conditions import SameGroup
from visual_search.evaluation.protocols.metadata import Metadata, Table
from visual_search.evaluation.protocols.proving import Promises
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.evaluation.protocols.split import Split, Unanswered, make_split
from visual_search.ids import Id, Ids

__all__ = ["image_text"]


def image_text(
    captions: Table,
    *,
    image: str,
    caption: str | None = None,
    direction: Literal["image to text", "text to image"] = "image to text",
    where: Mapping[str, Id | Sequence[Id]] | None = None,
    unanswered: Unanswered = "fail",
) -> Split:
    """An image asks for its captions, or a caption for its image.

    Parameters
    ----------
    captions : path, mapping, data frame or Metadata
        One row a caption; an image has as many as it has rows.
    image : str
        Column of the caption's image.
    caption : str, optional
        Column of the captions' ids; row numbers where left out.
    direction : {"image to text", "text to image"}
        ``split.reversed()`` gives the other one.
    where, unanswered
        As for `by_view`.

    Returns
    -------
    Split
        Its groups are the images, so that an image and its captions are drawn together in intervals. It promises that
        both sides have the same images and that every query has an answer.

    Examples
    --------
    >>> split = image_text({"image": ["a", "b", "a"], "text": ["a cat", "a dog", "a tom"]}, image="image")
    >>> split.relevance.judged("a"), split.reversed().relevance.judged(1)
    ({0: 1.0, 2: 1.0}, {'b': 1.0})
    """
    if direction not in ("image to text", "text to image"):
        raise InputError(f"direction={direction!r}: 'image to text' or 'text to image'")
    metadata = Metadata(captions, where=where)
    texts = metadata.side(caption, group=image)
    assert texts.group is not None
    images = Ids(texts.group.used(), what="images")
    pictures = Side(images, group=Column.of(images))
    asks = direction == "image to text"
    return make_split(
        protocol="image-text",
        words="each image asks for its captions" if asks else "each caption asks for its image",
        queries=pictures if asks else texts,
        gallery=texts if asks else pictures,
        condition=SameGroup(),
        promises=Promises(items="unrelated"),
        unanswered=unanswered,
        options={"table": metadata.name, "image": image, "direction": direction},
    )
