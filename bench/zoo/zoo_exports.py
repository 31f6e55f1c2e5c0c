"""Networks with random weights, and their ONNX files."""

import warnings


def settle(torch, network):
    """Sets random BatchNorm statistics and values where an initialisation is constant, as training would. Returns the
    generator, for the input."""
    random = torch.Generator().manual_seed(1)
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.running_mean is not None:
            module.running_mean.copy_(torch.randn(module.running_mean.shape, generator=random) * 0.1)
            module.running_var.copy_(torch.rand(module.running_var.shape, generator=random) + 0.5)
            if module.weight is not None:
                module.weight.data.copy_(torch.rand(module.weight.shape, generator=random) + 0.5)
                module.bias.data.copy_(torch.randn(module.bias.shape, generator=random) * 0.1)
    for value in network.parameters():
        if value.numel() > 1 and bool((value == value.flatten()[0]).all()):
            noise = torch.randn(value.shape, generator=random)
            value.data.copy_(value + 0.05 * noise if value.dim() != 1 or not value.any() else value * (1 + 0.2 * noise))
    return random


def wrapped(torch, network, more):
    """The network with a tuple of tensors as its outputs."""

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, image):
            result = self.network(image)
            if more.get("classes") == "argmax":
                return result["out"].argmax(1)
            if more.get("classes") == "softmax":
                scores = result["out"]  # random weights make them so large that their last bits would decide
                return (scores / scores.abs().amax()).softmax(1)
            if isinstance(result, dict):
                return tuple(result.values())
            return tuple(result) if isinstance(result, list) else result

    return Plain().eval()


class Heads:
    """The part of a detector that convolutions compute: class scores and boxes, before decoding and suppression."""

    @staticmethod
    def of(torch, network):
        class Head(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.backbone, self.head = network.backbone, network.head

            def forward(self, image):
                features = self.backbone(image)
                return self.head(list(features.values()) if isinstance(features, dict) else [features])

        return Head()


def make(network):
    """The module of a Network of zoo_list, and its input."""
    import torch
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    more, name = dict(network.more), network.name.split("+")[0]
    shape = (1, 3, network.size, network.size)
    if network.library == "timm":
        import timm
        keywords = {key: int(value) for key, value in more.items()}
        if network.kind == "backbone":
            keywords["features_only"] = True
        module = timm.create_model(name, pretrained=False, scriptable=False, exportable=True, **keywords)
    else:
        import torchvision.models as models
        if network.kind == "segmenter":
            module = getattr(models.segmentation, name)(weights=None, weights_backbone=None, num_classes=21)
        elif more.get("fpn") and name.startswith("resnet"):
            module = models.detection.backbone_utils.resnet_fpn_backbone(backbone_name=name, weights=None)
        elif more.get("fpn"):
            module = models.detection.backbone_utils.mobilenet_backbone(name, weights=None, fpn=True)
        elif network.kind == "video":
            module = getattr(models.video, name)(weights=None)
            shape = (1, 3, 16 if network.size < 224 else 16, network.size, network.size)
        elif network.kind == "detector":
            module = getattr(models.detection, name)(weights=None, weights_backbone=None)
            module = Heads.of(torch, module) if more.get("heads") else module
        else:
            keywords = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
            module = getattr(models, name)(weights=None, **keywords)
    module.eval()
    with torch.no_grad():
        random = settle(torch, module)
        image = torch.randn(shape, generator=random)
    return wrapped(torch, module, more), image


def tensors_of(outputs):
    """The tensors of nested tuples, lists and dictionaries, in their order."""
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    if not isinstance(outputs, (tuple, list)):
        return [outputs]
    return [each for some in outputs for each in tensors_of(some)]


def export(network, path):
    """Writes network.onnx (and its data) at `path`, and next to it its input as image.npy and PyTorch's outputs as pytorch.npz."""
    import numpy
    import torch
    module, image = make(network)
    numpy.save(path.parent / "image.npy", image.numpy())
    with torch.no_grad():
        numpy.savez(path.parent / "pytorch.npz", *[each.numpy() for each in tensors_of(module(image))])
        if network.opset == 17:
            torch.onnx.export(module, (image,), str(path), opset_version=17, dynamo=False)
        else:
            torch.onnx.export(module, (image,), str(path), opset_version=network.opset, dynamo=True,
                              external_data=True, verbose=False)
