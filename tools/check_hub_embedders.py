"""Run the hub embedders against the real libraries, with small random models made on the spot.

Run as ``pip install ".[hub]" && python tools/check_hub_embedders.py``. No weights are downloaded: each library
makes a tiny model of its own, and the embedder's vectors are compared with what the library itself gives for the
same images and texts. Prints versions and differences; exits with 1 when one exceeds a thousandth of the difference
between two inputs.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.contract import Embedder, TextEmbedder
from visual_search.indexing.embedders.open_clip_hub import OpenClipEmbedder
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.embedders.timm_hub import TimmEmbedder

LIMIT = 1e-3
WORDS = ["a", "cat", "dog", "photo", "of", "red", "car"]
TEXTS = ["a photo of a cat", "red car"]


def images() -> list[Image.Image]:
    """Three pictures of different shapes."""
    rng = np.random.default_rng(3)
    sizes = ((60, 80), (200, 50), (33, 34))
    return [Image.fromarray(rng.integers(0, 256, (h, w, 3), dtype=np.uint8)) for h, w in sizes]


def unit(tensor: Any) -> Any:
    """Rows of length 1 as float64 NumPy."""
    array = tensor.detach().double().numpy()
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def difference(ours: Any, theirs: Any) -> float:
    """Largest difference, in parts of the largest difference between two inputs.

    Random networks give nearly the same vector for everything, so that an absolute difference would say nothing.
    """
    return float(np.abs(ours - theirs).max() / np.abs(theirs[0] - theirs[1:]).max())


def through(embedder: Embedder) -> Any:
    """The images through the embedder, as the pipeline would."""
    return embedder.embed(np.stack([embedder.prepare(image) for image in images()]))


def pooled(features: Any) -> Any:
    """Features as a tensor, inside an output or not."""
    return getattr(features, "pooler_output", features)


def save_clip(folder: Path) -> None:
    """A tiny CLIP with tokenizer and image processor, saved as the hub would hold it."""
    import transformers

    text = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    text |= {"num_attention_heads": 2, "max_position_embeddings": 20, "eos_token_id": 1, "bos_token_id": 0}
    vision = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision |= {"image_size": 32, "patch_size": 8}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)
    transformers.CLIPModel(config).save_pretrained(folder)
    save_tokenizer(folder)
    transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32).save_pretrained(folder)


def save_siglip(folder: Path) -> None:
    """A tiny SigLIP."""
    import transformers

    shared = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.SiglipConfig(
        text_config={**shared, "vocab_size": 64, "max_position_embeddings": 16},
        vision_config={**shared, "image_size": 32, "patch_size": 8},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    save_tokenizer(folder)
    transformers.SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)


def save_vit(folder: Path) -> None:
    """A tiny ViT, which has no text tower."""
    import transformers

    config = transformers.ViTConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=32,
        patch_size=8,
    )
    transformers.ViTModel(config).save_pretrained(folder)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)


def save_tokenizer(folder: Path) -> None:
    """A tokenizer of a few words; what it splits does not matter here, that both sides use it does."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(["<s>", "</s>", "<pad>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)


def check_timm(folder: Path) -> dict[str, float]:
    """timm: a network saved as a local folder, through the text form, against timm's own transform and forward."""
    import timm
    from timm.data import create_transform, resolve_model_data_config
    from timm.models import save_for_hf

    network = timm.create_model("resnet10t", pretrained=False).eval()
    save_for_hf(network, folder / "timm", safe_serialization=False)
    embedder = create_embedder(f"timm:local-dir:{folder / 'timm'}")
    transform = create_transform(**resolve_model_data_config(network), is_training=False)
    with torch.no_grad():
        batch = torch.stack([transform(image) for image in images()])
        expected = unit(network.forward_head(network.forward_features(batch), pre_logits=True))
    assert not isinstance(embedder, TextEmbedder)
    assert embedder.dimension == expected.shape[1]
    again = TimmEmbedder(f"local-dir:{folder / 'timm'}")
    assert again.weights_hash == embedder.weights_hash
    assert TimmEmbedder("resnet10t", pretrained=False).weights_hash != embedder.weights_hash
    print("  ", embedder.preprocessing)
    return {"image": difference(through(embedder), expected)}


def check_open_clip(folder: Path) -> dict[str, float]:
    """open_clip: weights saved to a file, loaded as MODEL/WEIGHTS, against its own encoders."""
    import open_clip

    network, _, transform = open_clip.create_model_and_transforms("RN50-quickgelu")
    network = network.eval()
    torch.save(network.state_dict(), folder / "weights.pt")
    embedder = create_embedder(f"open_clip:RN50-quickgelu/{folder / 'weights.pt'}")
    assert isinstance(embedder, TextEmbedder)
    with torch.no_grad():
        expected = unit(network.encode_image(torch.stack([transform(image) for image in images()])))
        texts = unit(network.encode_text(open_clip.get_tokenizer("RN50-quickgelu")(TEXTS)))
    assert embedder.dimension == expected.shape[1]
    assert OpenClipEmbedder("RN50-quickgelu").weights_hash != embedder.weights_hash
    print("  ", embedder.preprocessing)
    return {
        "image": difference(through(embedder), expected),
        "text": difference(embedder.embed_text(TEXTS), texts),
    }


def check_transformers(folder: Path) -> dict[str, float]:
    """Transformers: CLIP and SigLIP with text, ViT without, against the models' own methods."""
    import transformers

    found = {}
    for name, save in (("clip", save_clip), ("siglip", save_siglip), ("vit", save_vit)):
        place = folder / name
        save(place)
        embedder = create_embedder(f"transformers:{place}")
        network = transformers.AutoModel.from_pretrained(place).eval()
        processor = transformers.AutoImageProcessor.from_pretrained(place)
        pixels = processor(images=images(), return_tensors="pt")["pixel_values"]
        with torch.no_grad():
            if name == "vit":
                expected = unit(network(pixel_values=pixels).pooler_output)
            else:
                expected = unit(pooled(network.get_image_features(pixel_values=pixels)))
        found[f"{name} image"] = difference(through(embedder), expected)
        print("  ", embedder.preprocessing)
        assert isinstance(embedder, TextEmbedder) == (name != "vit")
        if isinstance(embedder, TextEmbedder):
            tokenizer = transformers.AutoTokenizer.from_pretrained(place)
            length = network.config.text_config.max_position_embeddings
            tokens = tokenizer(TEXTS, padding="max_length", max_length=length, return_tensors="pt")
            tokens.pop("token_type_ids", None)
            with torch.no_grad():
                texts = unit(pooled(network.get_text_features(**tokens)))
            found[f"{name} text"] = difference(embedder.embed_text(TEXTS), texts)
    return found


def check_sentence_transformers(folder: Path) -> dict[str, float]:
    """Sentence Transformers: a CLIP saved and loaded, against its own ``encode``; a text model is refused."""
    import sentence_transformers
    import transformers

    save_clip(folder / "st-clip")
    transformers.CLIPProcessor(
        transformers.AutoImageProcessor.from_pretrained(folder / "st-clip"),
        transformers.AutoTokenizer.from_pretrained(folder / "st-clip"),
    ).save_pretrained(folder / "st-clip")
    sentence_transformers.SentenceTransformer(str(folder / "st-clip")).save(str(folder / "st"))
    embedder = create_embedder(f"sentence-transformers:{folder / 'st'}")
    assert isinstance(embedder, TextEmbedder)
    network = sentence_transformers.SentenceTransformer(str(folder / "st"))
    expected = unit(torch.from_numpy(network.encode(images())))
    texts = unit(torch.from_numpy(network.encode(TEXTS)))
    print("  ", embedder.preprocessing)
    config = transformers.BertConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(folder / "bert")
    save_tokenizer(folder / "bert")
    refused(f"sentence-transformers:{folder / 'bert'}", "takes no images")
    return {
        "image": difference(through(embedder), expected),
        "text": difference(embedder.embed_text(TEXTS), texts),
    }


def refused(spec: str, reason: str) -> None:
    """The text form must be refused with an InputError that says why."""
    try:
        create_embedder(spec)
    except InputError as error:
        if reason not in str(error):
            raise
        print("   refused as it should be:", str(error)[:160])
    else:
        raise AssertionError(f"{spec} was not refused")


def main() -> int:
    """Run every check; print versions, differences and the verdict."""
    names = ("torch", "timm", "open_clip_torch", "transformers", "sentence-transformers", "numpy", "pillow")
    print(json.dumps({name: version(name) for name in names}))
    worst = 0.0
    checks: list[Callable[[Path], dict[str, float]]] = [
        check_timm,
        check_open_clip,
        check_transformers,
        check_sentence_transformers,
    ]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for check in checks:
        print(check.__name__)
        with tempfile.TemporaryDirectory() as folder:
            differences = check(Path(folder))
        print("  ", {kind: f"{value:.1e}" for kind, value in differences.items()})
        worst = max(worst, *differences.values())
    for spec in ("timm:no_such_net", "open_clip:no-such/net", "transformers:/no/such/folder"):
        refused(spec, "cannot be loaded")
    print("largest difference:", worst, "ok" if worst <= LIMIT else f"EXCEEDS {LIMIT}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
