"""Pictures of every kind become the input of a model, by Pillow."""

import io
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
from array import array
from pathlib import Path

from PIL import Image

from hios.answers import pictures
from hios.answers.arrays import read_npy, write_npy
from hios.answers.network import Network, Tensor
from hios.answers.tensor import is_array, tensor_for
from hios.errors import InputError


def model(*dims):
    return Network("net", (Tensor("x", dims),), (Tensor("y", (dims[0], 10)),))


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.lines = []

    def path(self, name):
        return str(Path(self.folder.name) / name)

    def picture(self, name, mode="RGB", size=(8, 8), color=None, **options):
        image = Image.new(mode, size, color) if color is not None else Image.new(mode, size)
        image.save(self.path(name), **options)
        return self.path(name)

    def values(self, dims, *files, preprocess="none"):
        """The extents and values of the input that these files make."""
        with tempfile.TemporaryDirectory(dir=self.folder.name) as folder:
            return read_npy(tensor_for(model(*dims), files, preprocess, folder, self.lines.append))

    def refused(self, words, *given, **options):
        with self.assertRaises(InputError) as raised:
            self.values(*given, **options)
        self.assertIn(words, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception)


class Conversion(InAFolder):
    def test_bytes_as_they_are_channel_after_channel(self):
        image = Image.new("RGB", (2, 1))
        image.putdata([(1, 2, 3), (4, 5, 6)])
        image.save(self.path("p.png"))
        dims, values = self.values((1, 3, 1, 2), self.path("p.png"))
        self.assertEqual((dims, list(values)), ([1, 3, 1, 2], [1, 4, 2, 5, 3, 6]))
        dims, values = self.values((1, 1, 2, 3), self.picture("grey.png", "L", (3, 2), 9))
        self.assertEqual(list(values), [9] * 6)
        self.assertEqual(self.lines, [f"{self.path('p.png')} 2x1 RGB: values 0 to 255",
                                      f"{self.path('grey.png')} 3x2 grey: values 0 to 255"])

    def test_pixels_stay_together_where_the_model_takes_them_so(self):
        image = Image.new("RGB", (2, 5))
        image.putdata([(i, 100 + i, 200 + i) for i in range(10)])
        image.save(self.path("p.png"))
        _, values = self.values((1, 5, 2, 3), self.path("p.png"))
        self.assertEqual(list(values), [each + i for i in range(10) for each in (0, 100, 200)])

    def test_imagenet_resizes_crops_and_normalises(self):
        file = self.picture("photo.png", size=(640, 480), color=(255, 0, 128))
        dims, values = self.values((1, 3, 224, 224), file, preprocess="imagenet")
        self.assertEqual(dims, [1, 3, 224, 224])
        for channel, (byte, mean, std) in enumerate([(255, 0.485, 0.229), (0, 0.456, 0.224), (128, 0.406, 0.225)]):
            part = values[channel * 224 * 224:(channel + 1) * 224 * 224]
            self.assertEqual(len(set(part)), 1)
            self.assertAlmostEqual(part[0], (byte / 255 - mean) / std, places=5)
        self.assertEqual(self.lines, [f"{file} 640x480 RGB: resized to 341x256, cropped to 224x224, values / 255, "
                                      "mean 0.485 0.456 0.406, std 0.229 0.224 0.225"])

    def test_other_sizes_are_scaled_alike(self):
        file = self.picture("photo.png", size=(480, 640))
        self.values((1, 3, 299, 299), file, preprocess="imagenet")
        self.values((1, 3, 64, 128), file, preprocess="imagenet")
        self.assertIn("resized to 342x456, cropped to 299x299", self.lines[0])
        self.assertIn("resized to 146x194, cropped to 128x64", self.lines[1])

    def test_the_crop_is_the_centre(self):
        image = Image.new("L", (4, 4))
        image.putdata(range(16))
        image.save(self.path("p.png"))
        how = self.path("how.json")
        Path(how).write_text('{"crop": 2, "scale": 1, "mean": 5, "std": 2}')
        _, values = self.values((1, 1, 2, 2), self.path("p.png"), preprocess=how)
        self.assertEqual(list(values), [0, 0.5, 2, 2.5])

    def test_several_pictures_are_a_batch(self):
        files = [self.picture(f"{i}.png", "L", color=i) for i in range(3)]
        dims, values = self.values((3, 1, 8, 8), *files)
        self.assertEqual((dims, [values[0], values[64], values[128]]), ([3, 1, 8, 8], [0, 1, 2]))
        self.refused("a batch of 3, and 2 pictures are given: give as many, or --batch 2", (3, 1, 8, 8), *files[:2])

    def test_an_array_is_the_input_itself(self):
        file = self.path("x.npy")
        write_npy(file, [2], array("f", [1, 2]))
        self.assertEqual(tensor_for(model(1, 8, 4, 4), [file]), file)
        self.assertTrue(is_array(self.path("nowhere.bin")))
        self.assertEqual(read_npy(file), ([2], array("f", [1, 2])))
        self.refused("is a whole input", (1, 3, 8, 8), file, file)

    def test_the_file_is_temporary_without_a_folder(self):
        program = ("import sys; from hios.answers.tensor import tensor_for; from hios.answers.network import *; "
                   "print(tensor_for(Network('n', (Tensor('x', (1, 3, 8, 8)),), ()), [sys.argv[1]], 'none', say=id))")
        done = subprocess.run([sys.executable, "-c", program, self.picture("p.png")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.strip().endswith("input.npy"))
        self.assertFalse(Path(done.stdout.strip()).parent.exists())


class Kinds(InAFolder):
    def line(self, file, channels=3):
        _, values = self.values((1, channels, 8, 8), file)
        return self.lines.pop().removeprefix(file + " "), [values[64 * i] for i in range(channels)]

    def test_transparency_is_composited_on_white(self):
        file = self.picture("p.png", "RGBA", color=(0, 100, 200, 0))
        self.assertEqual(self.line(file), ("8x8 RGBA: composited on white, values 0 to 255", [255, 255, 255]))
        file = self.picture("half.png", "RGBA", color=(0, 0, 0, 128))
        self.assertEqual(self.line(file)[1], [127, 127, 127])
        file = self.picture("la.png", "LA", color=(50, 255))
        self.assertEqual(self.line(file), ("8x8 grey with transparency: composited on white, values 0 to 255", [50, 50, 50]))
        file = self.picture("palette.gif", "P", color=0, transparency=0)
        self.assertIn("composited on white", self.line(file)[0])

    def test_grey_fills_three_channels_and_colours_one(self):
        file = self.picture("grey.jpg", "L", color=77)
        self.assertEqual(self.line(file), ("8x8 grey: grey in three channels, values 0 to 255", [77, 77, 77]))
        text, values = self.line(self.picture("red.png", color=(255, 0, 0)), channels=1)
        self.assertEqual((text, values), ("8x8 RGB: converted to grey, values 0 to 255", [76]))
        file = self.picture("one.png", "1", color=1)
        self.assertEqual(self.line(file)[1], [255, 255, 255])

    def test_sixteen_bits_become_eight(self):
        file = self.picture("deep.png", "I", color=0x8080)
        text, values = self.line(file, channels=1)
        self.assertEqual((text, values), ("8x8 grey of 16 bits: 16 bits reduced to 8, values 0 to 255", [128]))
        file = self.picture("deepest.png", "I", color=65535)
        self.assertEqual(self.line(file, channels=1)[1], [255])
        file = self.picture("deep.tif", "I", color=70000)
        self.refused("has pixels from 70000 to 70000, more than 16 bits", (1, 1, 8, 8), file)
        file = self.picture("float.tif", "F", color=0.5)
        self.refused("floating-point pixels", (1, 1, 8, 8), file)

    def test_colours_of_sixteen_bits(self):
        def chunk(kind, data):
            import zlib
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        import zlib
        row = b"\0" + struct.pack(">HHH", 0xFFFF, 0x8000, 0) * 8
        Path(self.path("rgb16.png")).write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(row * 8)) + chunk(b"IEND", b""))
        text, values = self.line(self.path("rgb16.png"))
        self.assertEqual((text, values), ("8x8 RGB of 16 bits: 16 bits reduced to 8, values 0 to 255", [255, 128, 0]))

    def test_cmyk_is_converted(self):
        file = self.picture("print.tif", "CMYK", color=(0, 0, 0, 0))
        self.assertEqual(self.line(file), ("8x8 CMYK: converted from CMYK to RGB, values 0 to 255", [255, 255, 255]))

    def test_exif_turns_the_picture(self):
        image = Image.new("L", (2, 1))
        image.putdata([10, 20])
        exif = Image.Exif()
        exif[0x0112] = 6  # to be turned clockwise
        image.save(self.path("turned.png"), exif=exif)
        dims, values = self.values((1, 1, 2, 1), self.path("turned.png"))
        self.assertEqual((dims, list(values)), ([1, 1, 2, 1], [10, 20]))
        self.assertIn("1x2 grey: turned as its EXIF says", self.lines[0])

    def test_the_first_frame_counts(self):
        frames = [Image.new("L", (8, 8), color) for color in (10, 200, 90)]
        frames[0].save(self.path("moving.gif"), save_all=True, append_images=frames[1:])
        text, values = self.line(self.path("moving.gif"), channels=1)
        self.assertIn("first of 3 frames", text)
        self.assertEqual(values, [10])


class BadInput(InAFolder):
    def test_no_picture(self):
        Path(self.path("noise.jpg")).write_bytes(b"noise" * 50)
        self.refused("noise.jpg: is no picture that Pillow reads", (1, 3, 8, 8), self.path("noise.jpg"))
        Path(self.path("empty.png")).write_bytes(b"")
        self.refused("empty.png: is no picture", (1, 3, 8, 8), self.path("empty.png"))
        self.refused("nowhere.jpg: No such file", (1, 3, 8, 8), self.path("nowhere.jpg"))
        self.refused(f"{self.folder.name}: Is a directory", (1, 3, 8, 8), self.folder.name)

    def test_every_cut_and_every_changed_byte_is_a_picture_or_one_line(self):
        for kind in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP"):
            whole = io.BytesIO()
            Image.linear_gradient("L").resize((16, 16)).save(whole, kind)
            data = whole.getvalue()
            broken = [data[:i] for i in range(0, len(data), 1 + len(data) // 40)]
            broken += [data[:i] + bytes([data[i] ^ 0x55]) + data[i + 1:] for i in range(0, len(data), 1 + len(data) // 60)]
            for i, each in enumerate(broken):
                Path(self.path("broken")).write_bytes(each)
                with self.subTest(kind=kind, broken=i):
                    try:
                        pictures.read(self.path("broken"), 3)
                    except InputError as error:
                        self.assertNotIn("\n", str(error))

    def test_a_huge_picture_is_refused_with_a_command_that_reduces_it(self):
        before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, 1000
        self.addCleanup(setattr, Image, "MAX_IMAGE_PIXELS", before)
        for name, size in (("it's large.png", (60, 20)), ("larger.png", (90, 60))):
            file = self.picture(name, size=size)
            said = self.refused(f"has {size[0] * size[1]} pixels, more than the 1000 that Pillow takes", (1, 3, 8, 8), file)
            command = said.split("this makes it smaller: ")[1]
            done = subprocess.run(command, shell=True, cwd=self.folder.name, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            pictures.read(self.path("smaller.png"), 3)

    def test_the_real_limit_holds(self):
        def chunk(kind, data):
            import zlib
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 20000, 20000, 8, 2, 0, 0, 0))
        Path(self.path("bomb.png")).write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IEND", b""))
        self.refused("has 400000000 pixels", (1, 3, 8, 8), self.path("bomb.png"))

    def test_a_long_thin_picture_does_not_grow_beyond_the_limit(self):
        file = self.picture("thin.png", "L", (30000, 1))
        self.refused("cut it to a square, or resize it to less", (1, 3, 224, 224), file, preprocess="imagenet")

    def test_no_model_for_pictures(self):
        file = self.picture("p.png")
        self.refused("'x' 1x8x16x16 is for no pictures", (1, 8, 16, 16), file)
        self.refused("'x' 1x80 is for no pictures", (1, 80), file)

    def test_another_size(self):
        file = self.picture("p.png", size=(10, 8))
        self.refused("is 10x8 by --preprocess none, and the model takes 8x8", (1, 3, 8, 8), file)
        how = self.path("how.json")
        Path(how).write_text('{"crop": 20}')
        self.refused('is 10x8 before it is cropped to 20x20', (1, 3, 20, 20), file, preprocess=how)
        self.refused("crop is 20x20, and the model takes 8x8", (1, 3, 8, 8), file, preprocess=how)

    def test_missing_pillow(self):
        program = ("import sys; sys.modules['PIL'] = None\n"
                   "from hios.answers import pictures; from hios.errors import InputError\n"
                   "try: pictures.read(sys.argv[1], 3)\nexcept InputError as error: print(error)")
        done = subprocess.run([sys.executable, "-c", program, self.picture("p.png")], capture_output=True, text=True)
        self.assertRegex(done.stdout, "^pictures need Pillow, which .* does not have: "
                                      "(apt-get install -y python3-pil|.* -m pip install pillow)\n$")


if __name__ == "__main__":
    warnings.simplefilter("default")
    unittest.main()
