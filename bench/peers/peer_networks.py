"""The networks of bench/peers.sh, and their ONNX files."""

from pathlib import Path

BUILT_IN = ("inception_v3", "squeezenet", "nasnet_large", "randwire_large")
# At 224x224, unet at 256x256; @8: a batch of 8.
OF_TORCH = ("resnet50", "mobilenet_v2", "efficientnet_b0", "unet", "convnext_tiny", "densenet121", "regnet_y_400mf", "vit_tiny",
            "efficientnet_v2_s", "lraspp_mobilenet_v3_large", "resnet50@8", "mobilenet_v2@8")


def error_of(name):
    """Why a network of this name cannot be measured; empty if it can."""
    if name in BUILT_IN + OF_TORCH:
        return ""
    if not name.endswith(".onnx"):
        return f"{name}: neither a network ({', '.join(BUILT_IN + OF_TORCH)}) nor an ONNX file"
    return "" if Path(name).is_file() else f"{name}: no such file"


def chosen(asked, torch):
    """The networks to measure, and those that are skipped. `torch`: its version, or None."""
    if asked:
        missing = [name for name in asked if name in OF_TORCH and not torch]
        if missing:
            raise SystemExit(f"{', '.join(missing)}: PyTorch is needed; scripts/setup.sh --onnx-networks installs it")
        return list(asked), []
    return [*BUILT_IN, *(OF_TORCH if torch else ())], [] if torch else list(OF_TORCH)


def write(name, folder, programs, worker):
    """Returns the network's file; writes it if needed."""
    if name.endswith(".onnx"):
        return Path(name).resolve()
    file = folder / f"{name}.onnx"
    if name in BUILT_IN:
        programs.run("hios-run", "--model", name, "--export-onnx", file, "-q")
    else:
        worker.ask({"do": "export", "network": name, "file": str(file)})
    return file
