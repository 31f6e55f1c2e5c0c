"""Pictures become the input of a model, an .npy file in its extents."""

import atexit
import shutil
import tempfile
from array import array
from pathlib import Path

from hios.answers import pictures
from hios.answers.arrays import MAGIC, write_npy
from hios.answers.network import Network, network, text_of
from hios.answers.preprocessing import preprocessing
from hios.errors import InputError
from hios.words import printable


def is_array(file):
    """True for files that the programs read themselves; a file that cannot be read is one by its name."""
    if Path(file).suffix in (".npy", ".bin"):
        return True
    try:
        with open(file, "rb") as source:
            return source.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def tensor_for(model, files, preprocess="imagenet", folder=None, say=print):
    """Returns the path of an .npy file with the input that these files make.

    `model`: the network, or the words that name it, such as ["--model", "squeezenet"]; the number of pictures is its batch,
    so these words need no --batch. `files`: pictures, or one .npy or .bin file, which is the result itself. `folder`: where the
    file is written; without one it is temporary, until the process ends. `say` is given a line per picture: what was done."""
    files = list(map(str, files))
    if any(map(is_array, files)):
        if len(files) > 1:
            raise InputError(f"{next(filter(is_array, files))} is a whole input, and further files are given: leave them out")
        return files[0]
    if not isinstance(model, Network):
        model = network([*model, *(["--batch", str(len(files))] if "--batch" not in model else [])])
    form = Form(model)
    if form.batch != len(files):
        given = "one picture is" if len(files) == 1 else f"{len(files)} pictures are"
        raise InputError(f"the model's input {model.input.text()} has a batch of {form.batch}, and {given} given: give as "
                         f"many, or --batch {len(files)} (to hios schedule, too, if there is a schedule)")
    how = preprocessing(preprocess, form.height, form.width, form.channels)
    layout = how.layout or form.layout
    if Form.dims_of(layout, form) != tuple(model.input.dims):
        raise InputError(f"{how.name}: layout is {layout}, and the model takes {text_of(model.input.dims)}, which is "
                         f"{form.layout}: leave layout out")
    values = array("f")
    for file in files:
        picture = pictures.read(file, form.channels)
        image = resized(picture, how, form, picture.notes)
        values.extend(planes(image, how, layout))
        done = ", ".join([*picture.notes, how.numbers_text()])
        say(printable(f"{file} {picture.size[0]}x{picture.size[1]} {picture.kind}: {done}"))
    if folder is None:
        folder = tempfile.mkdtemp(prefix="hios-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "input.npy"
    write_npy(path, model.input.dims, values)
    return str(path)


class Form:
    """The batch, channels, height and width of an input for pictures, and which extent is which."""

    def __init__(self, model):
        dims = model.input.dims
        if len(dims) == 4 and dims[1] in (1, 3):
            self.layout, (self.batch, self.channels, self.height, self.width) = "NCHW", dims
        elif len(dims) == 4 and dims[3] in (1, 3):
            self.layout, (self.batch, self.height, self.width, self.channels) = "NHWC", dims
        else:
            raise InputError(f"the model's input {model.input.text()} is for no pictures, which have three channels, or one: "
                             "give it as an .npy file")

    @staticmethod
    def dims_of(layout, form):
        if layout == "NCHW":
            return form.batch, form.channels, form.height, form.width
        return form.batch, form.height, form.width, form.channels


def resized(picture, how, form, notes):
    """The image in the model's size; adds to the notes what was done."""
    Image, _ = pictures.pillow()
    image = picture.image
    width, height = how.resized(*image.size)
    if width * height > Image.MAX_IMAGE_PIXELS:
        raise InputError(f"{picture.file}: {image.width}x{image.height} would become {width}x{height}, more "
                         f"than {Image.MAX_IMAGE_PIXELS} pixels: cut it to a square, or resize it to less")
    if (width, height) != image.size:
        notes.append(f"resized to {width}x{height}")
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    wanted, size = (form.width, form.height), f"{form.width}x{form.height}"
    if how.crop and image.size != wanted:
        if image.width < form.width or image.height < form.height:
            raise InputError(f"{picture.file}: is {image.width}x{image.height} before it is cropped to {size}: resize it in "
                             f"{how.name}, such as \"resize\": {max(wanted)}")
        left, top = round((image.width - form.width) / 2), round((image.height - form.height) / 2)
        image = image.crop((left, top, left + form.width, top + form.height))
        notes.append(f"cropped to {size}")
    if image.size != wanted:
        raise InputError(f"{picture.file}: is {image.width}x{image.height} by --preprocess {how.name}, and the model takes "
                         f"{size}: --preprocess imagenet resizes and crops, as does a FILE with resize and crop")
    return image


def planes(image, how, layout):
    """The values of an image in the order of the layout."""
    channels = []
    for index, channel in enumerate(image.split()):
        table = how.table(index)
        channels.append(array("f", [table[byte] for byte in channel.tobytes()]))
    if layout == "NCHW":
        return [value for channel in channels for value in channel]
    return [value for pixel in zip(*channels) for value in pixel]
