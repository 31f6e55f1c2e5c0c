"""The sizes and numbers by which a picture becomes an input: imagenet, none, or those of a JSON file."""

import json
import math
from dataclasses import dataclass, fields, replace

from hios.errors import InputError
from hios.files import read_at_most, strict_json
from hios.words import did_you_mean

LARGEST_FILE = 1 << 20
LAYOUTS = ("NCHW", "NHWC")
LARGEST_FLOAT32 = (2 - 2**-23) * 2.0**127


@dataclass(frozen=True)
class Preprocessing:
    """A value is (byte * scale - mean) / std; mean and std have one number, or one per channel."""
    name: str
    cover: tuple | None = None   # (height, width) that a resized picture just covers
    resize: tuple | None = None  # (height, width) to which it is resized
    crop: tuple | None = None    # (height, width) in its centre
    scale: float = 1 / 255
    mean: tuple = (0.0,)
    std: tuple = (1.0,)
    layout: str | None = None    # None: as the model's extents say

    def resized(self, width, height):
        """The (width, height) of a picture once it is resized."""
        if self.resize:
            return self.resize[1], self.resize[0]
        if not self.cover:
            return width, height
        tall, wide = self.cover
        if tall * width >= wide * height:
            return max(1, tall * width // height), tall
        return wide, max(1, wide * height // width)

    def table(self, channel):
        """The values of the bytes 0 to 255 in a channel."""
        mean, std = (numbers[channel if len(numbers) > 1 else 0] for numbers in (self.mean, self.std))
        values = [(byte * self.scale - mean) / std for byte in range(256)]
        if not all(abs(value) <= LARGEST_FLOAT32 for value in values):
            raise InputError(f"{self.name}: scale, mean and std make values that no float32 holds, up to "
                             f"{max(values, key=abs):g}: correct them")
        return values

    def numbers_text(self):
        """The words for what happens to the bytes."""
        divisor = 1 / self.scale
        whole = math.isfinite(divisor) and math.isclose(divisor, round(divisor))
        words = [] if self.scale == 1 else [f"values / {divisor:.0f}" if whole else f"values * {self.scale:g}"]
        if self.mean != (0.0,):
            words.append("mean " + " ".join(f"{each:g}" for each in self.mean))
        if self.std != (1.0,):
            words.append("std " + " ".join(f"{each:g}" for each in self.std))
        return ", ".join(words) or "values 0 to 255"


# torchvision's networks were trained with these.
IMAGENET = Preprocessing("imagenet", mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))


def preprocessing(word, height, width, channels):
    """The preprocessing for a model with inputs of this size. `word`: imagenet, none, or the name of a JSON file."""
    if word == "imagenet":
        found = replace(IMAGENET, cover=(round(height * 256 / 224), round(width * 256 / 224)), crop=(height, width))
    elif word == "none":
        found = Preprocessing("none", scale=1.0)
    else:
        found = read(word)
    for key in ("mean", "std"):
        count = len(getattr(found, key))
        if count not in (1, channels):
            other = "take --preprocess none, or a FILE with a mean and a std"
            remedy = other if word == "imagenet" else f"give {channels}, or one"
            raise InputError(f"--preprocess {word}: {key} has {count} numbers, and the model takes "
                             f"{'one channel' if channels == 1 else f'{channels} channels'}: {remedy}")
    if found.crop not in (None, (height, width)):
        tall, wide = found.crop
        raise InputError(f"{word}: crop is {wide}x{tall}, and the model takes {width}x{height}: leave crop out, or run with "
                         f"--height {tall} --width {wide}")
    return found


def read(file):
    """Reads {resize, crop, mean, std, scale, layout}, of which none is needed."""
    try:
        content = strict_json(read_at_most(file, LARGEST_FILE))
    except OSError as error:
        raise InputError(f"--preprocess {file}: {error.strerror}: take imagenet, none, or the name of a JSON file") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: is no JSON file: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f'{file}: must be an object such as {{"resize": 256, "crop": 224, "mean": [0.5], "std": [0.5]}}')
    readers = {"resize": read_resize, "crop": lambda *given: {"crop": read_size(*given)}, "mean": read_numbers, "std": read_std,
               "scale": read_scale, "layout": read_layout}
    found = {}
    for key, value in content.items():
        if key not in readers:
            raise InputError(f"{file}: unknown key '{key}'{did_you_mean(key, readers)}: the keys are {', '.join(readers)}")
        found |= readers[key](file, key, value)
    assert found.keys() <= {field.name for field in fields(Preprocessing)}
    return Preprocessing(str(file), **found)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_extent(value):
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1 << 16


def read_size(file, key, value):
    """(height, width) of N or [HEIGHT, WIDTH]."""
    if is_extent(value):
        return value, value
    if isinstance(value, list) and len(value) == 2 and all(map(is_extent, value)):
        return tuple(value)
    raise InputError(f"{file}: {key} takes pixels, such as 224, or [224, 320] for height and width, not {json.dumps(value)}")


def read_resize(file, key, value):
    """Returns the length of the shorter side for N, the size for [HEIGHT, WIDTH]."""
    return {"cover" if is_extent(value) else "resize": read_size(file, key, value)}


def read_numbers(file, key, value):
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not all(map(is_number, numbers)):
        raise InputError(f"{file}: {key} takes a number, or one per channel as [0.485, 0.456, 0.406], not {json.dumps(value)}")
    return {key: tuple(map(float, numbers))}


def read_std(file, key, value):
    numbers = read_numbers(file, key, value)
    if 0.0 in numbers[key]:
        raise InputError(f"{file}: std is 0, by which nothing can be divided")
    return numbers


def read_scale(file, key, value):
    if not is_number(value) or value == 0:
        raise InputError(f"{file}: scale takes a number other than 0, such as {1 / 255}, not {json.dumps(value)}")
    return {key: float(value)}


def read_layout(file, key, value):
    if value not in LAYOUTS:
        raise InputError(f"{file}: layout takes NCHW or NHWC, not {json.dumps(value)}")
    return {key: value}
