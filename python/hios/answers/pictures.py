"""Reads picture files by Pillow: any kind becomes 8 bits of red, green and blue, or of grey, and notes say how."""

import math
import re
import shlex
import sys
import warnings
from dataclasses import dataclass

from hios.errors import InputError


@dataclass
class Picture:
    file: str
    size: tuple    # (width, height), as it is to be seen
    kind: str      # of the file: "RGB", "RGBA", "grey" …
    notes: list    # what was done to it
    image: object  # of mode RGB, or L for one channel


KINDS = {"1": "black and white", "L": "grey", "LA": "grey with transparency", "I": "grey of 16 bits", "P": "of a palette"}


def pillow():
    """The module PIL.Image, and PIL.ImageOps."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        # Debian's Python takes Debian's package.
        debian = sys.executable.startswith("/usr/bin/")
        command = "apt-get install -y python3-pil" if debian else f"{shlex.quote(sys.executable)} -m pip install pillow"
        raise InputError(f"pictures need Pillow, which {sys.executable} does not have: {command}") from None
    return Image, ImageOps


def read(file, channels):
    """Reads a picture for a model of 3 channels or of 1. Of several frames the first counts."""
    Image, ImageOps = pillow()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(file) as image:
                return converted(file, image, channels, Image, ImageOps)
        except InputError:
            raise
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise InputError(too_large(file, error, Image.MAX_IMAGE_PIXELS)) from None
        except Image.UnidentifiedImageError:
            raise InputError(f"{file}: is no picture that Pillow reads (JPEG, PNG, GIF, BMP, TIFF, WebP …), nor an .npy or "
                             ".bin file") from None
        except OSError as error:
            raise InputError(f"{file}: {error.strerror or f'is a broken picture: {error}'}") from None
        except Exception as error:  # broken files end Pillow's decoders in many ways
            raise InputError(f"{file}: is a broken picture: {one_line(error)}") from None


def one_line(error):
    return " ".join(str(error).split()) or type(error).__name__


def too_large(file, error, limit):
    found = re.search(r"\((\d+) pixels\)", str(error))
    pixels = int(found[1]) if found else 2 * limit
    reduced = math.ceil(math.sqrt(pixels / limit)) + 1
    command = (f"from PIL import Image; Image.MAX_IMAGE_PIXELS = None; "
               f"Image.open({file!r}).convert('RGB').reduce({reduced}).save('smaller.png')")
    return (f"{file}: has {pixels} pixels, more than the {limit} that Pillow takes from files that may be bombs; "
            f"if you trust it, this makes it smaller: {shlex.quote(sys.executable)} -c {shlex.quote(command)}")


def converted(file, image, channels, Image, ImageOps):
    notes = []
    frames = getattr(image, "n_frames", 1)
    if frames > 1:
        notes.append(f"first of {frames} frames")
    # Pillow 11 opens grey of 16 bits as "I;16", earlier ones as "I".
    kind = KINDS.get(image.mode.partition(";")[0], image.mode)
    if any(";16" in str(tile[3]) for tile in image.tile):
        notes.append("16 bits reduced to 8")
        kind += "" if "16" in kind else " of 16 bits"
    image.load()
    if image.getexif().get(0x0112, 1) in range(2, 9):  # the orientation
        image = ImageOps.exif_transpose(image)
        notes.append("turned as its EXIF says")
    image = eight_bits(file, image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa") or "transparency" in image.info:
        notes.append("composited on white")
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("RGB")
    elif image.mode not in ("RGB", "L", "1", "P"):
        notes.append(f"converted from {image.mode} to RGB")
        image = image.convert("RGB")
    grey = image.mode in ("1", "L")
    if channels == 1 and not grey:
        notes.append("converted to grey")
    if channels == 3 and grey:
        notes.append("grey in three channels")
    return Picture(file, image.size, kind, notes, image.convert("L" if channels == 1 else "RGB"))


def eight_bits(file, image):
    """Scales grey of 16 bits; other pictures stay."""
    if image.mode == "F":
        raise InputError(f"{file}: has floating-point pixels, whose range nobody knows: save it with 8 bits, or give the "
                         "model's input as an .npy file")
    if not image.mode.startswith("I"):
        return image
    image = image.convert("I")
    lowest, highest = image.getextrema()
    if lowest < 0 or highest > 65535:
        raise InputError(f"{file}: has pixels from {lowest} to {highest}, more than 16 bits: save it with 8 bits")
    image.info.pop("transparency", None)
    return image.point(lambda value: value * (1 / 257) + 0.5).convert("L")
