"""packaging/: one version in all files; Spack's variants are CMake's options; the images' definitions; public CI."""

import importlib.util
import re
import subprocess
import unittest
from pathlib import Path

import fake_spack

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SPACK = PACKAGING / "spack_repo/hios/packages/hios/package.py"
CMAKE = (ROOT / "CMakeLists.txt").read_text()


def cmake_version():
    return re.search(r"^project\(hios VERSION (\S+)", CMAKE, re.M)[1]


def options():
    """CMake's options with their defaults."""
    return dict(re.findall(r"^option\((HIOS_\w+) \".*\" (\S+)\)$", CMAKE, re.M))


def definition(kind):
    """The stages of an image's definition, as in-chroot.py reads them."""
    spec = importlib.util.spec_from_file_location("in_chroot", PACKAGING / "apptainer/in-chroot.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stages((PACKAGING / f"apptainer/hios-{kind}.def").read_text())


class VersionTest(unittest.TestCase):
    def test_all_files_have_one(self):
        patterns = {
            "CITATION.cff": r"^version: (\S+)$", "packaging/easybuild/HIOS-*.eb": r"^version = '(.*)'$",
            "packaging/spack_repo/hios/packages/hios/package.py": r'^    version\("(.*?)"',
            "packaging/apptainer/*.def": r"^    Version (\S+)$", "pyproject.toml": r'^version = "(.*)"$',
            "python/pyproject.toml": r'^version = "(.*)"$', "CHANGELOG.md": r"^## (\S+)"}
        seen = set()
        for pattern, line in patterns.items():
            for file in sorted(ROOT.glob(pattern)):
                with self.subTest(file.relative_to(ROOT)):
                    found = re.search(line, file.read_text(), re.M)
                    if not found and file.name == "pyproject.toml" and "dynamic" in file.read_text():
                        continue  # it asks CMake's file
                    self.assertTrue(found, "no version")
                    self.assertEqual(found[1], cmake_version())
                    seen.add(file.name)
        self.assertGreaterEqual(seen, {"CITATION.cff", "package.py", "hios-cpu.def", "hios-cuda.def"})

    def test_the_easyconfigs_name_has_it(self):
        names = [file.name for file in (PACKAGING / "easybuild").glob("HIOS-*.eb")]
        self.assertEqual(names, [f"HIOS-{cmake_version()}-foss-2024a.eb"])


class SpackTest(unittest.TestCase):
    # Options that a site never sets; the tests' and benches' are off in every package.
    OURS = {"HIOS_CUDA_TESTS", "HIOS_INSTALL", "HIOS_WERROR", "HIOS_FUZZ", "HIOS_QUICK",
            "HIOS_PYTHON_MODULE", "HIOS_COVERAGE", "HIOS_EMULATED_WHOLE"}

    def setUp(self):
        self.package, self.recorded = fake_spack.load(SPACK)
        self.variants = {words[0]: options["default"] for words, options in self.recorded.named("variant")}

    def arguments(self, *on, **others):
        package = self.package()
        package.spec = fake_spack.Spec(on, **others)
        return dict(each[2:].split("=", 1) for each in package.cmake_args())

    def test_every_option_is_a_variant_with_its_default(self):
        self.assertEqual(set(self.arguments()) - {"CMAKE_DISABLE_FIND_PACKAGE_Python3"}, set(options()) - self.OURS)
        for variant, default in self.variants.items():
            if variant != "python":
                self.assertEqual(options()[f"HIOS_{variant.upper()}"], "ON" if default else "OFF", variant)

    def test_a_variant_sets_its_option_alone(self):
        for variant in [*self.variants, "cuda"]:
            if variant != "python":
                on = {name for name, value in self.arguments(variant).items() if value == "ON" and name.startswith("HIOS_")}
                self.assertEqual(on, {f"HIOS_{variant.upper()}"})

    def test_python_and_gpus(self):
        self.assertNotIn("CMAKE_DISABLE_FIND_PACKAGE_Python3", self.arguments("python"))
        self.assertEqual(self.arguments("python", "cuda", cuda_arch=("80", "90"))["CMAKE_CUDA_ARCHITECTURES"], "80;90")

    def test_dependencies_have_cmakes_least_versions(self):
        least = {words[0].split("@")[0]: words[0].split("@")[1].split(":")[0]
                 for words, _ in self.recorded.named("depends_on") if "@" in words[0]}
        parts = [ROOT / "cmake" / f"Hios{name}.cmake" for name in ("Dependencies", "OneDnn", "Python")]
        files = CMAKE + "".join(part.read_text() for part in parts)
        for package, pattern in {"nlohmann-json": r"nlohmann_json (\S+) ", "boost": r"Boost (\S+) ", "hwloc": r"Hwloc (\S+) ",
                                 "onednn": r"dnnl_VERSION VERSION_LESS ([\d.]+)", "cudnn": r"CUDNN (\S+) ",
                                 "python": r"Python3 (\S+) ", "cmake": r"cmake_minimum_required\(VERSION (\S+)\)"}.items():
            self.assertEqual(least[package], re.search(pattern, files)[1], package)


class DefinitionTest(unittest.TestCase):
    def test_both_images_have_the_same_test_and_stages(self):
        cpu, cuda = definition("cpu"), definition("cuda")
        for section in ("test", "environment", "runscript"):
            self.assertEqual(cpu[1]["sections"][section], cuda[1]["sections"][section], section)
        for one, other in zip(cpu, cuda, strict=True):
            self.assertEqual([line.replace("release", "cuda") for line in one["sections"]["post"]],
                             [line.replace("release", "cuda") for line in other["sections"]["post"]])

    def test_presets_exist_and_files_that_are_called_are_there(self):
        presets = (ROOT / "CMakePresets.json").read_text()
        for kind, preset in (("cpu", "release"), ("cuda", "cuda")):
            post = "\n".join(definition(kind)[0]["sections"]["post"])
            self.assertIn(f"--preset {preset} ", post)
            self.assertIn(f'"name": "{preset}"', presets)
            for script in re.findall(r"^\s*((?:scripts|packaging)/\S+)", post, re.M):
                self.assertTrue((ROOT / script).stat().st_mode & 0o100, script)

    def test_sections_are_shell(self):
        for kind in ("cpu", "cuda"):
            for stage in definition(kind):
                for name in {"post", "test", "environment", "runscript"} & set(stage["sections"]):
                    subprocess.run(["sh", "-n"], input="\n".join(stage["sections"][name]), text=True, check=True)


class OtherFilesTest(unittest.TestCase):
    def test_public_ci_runs_every_preset_that_test_sh_builds(self):
        text = (ROOT / ".github/workflows/ci.yml").read_text()
        presets, worlds = (re.search(rf"{word}: \[(.*)\]", text)[1].split(", ") for word in ("preset", "world"))
        self.assertEqual(presets, ["release", "asan", "tsan", "minimal"])
        self.assertIn("./test.sh ${{ matrix.preset }}", text)
        known = (ROOT / "bench/worlds.sh").read_text()
        named = {name for row in re.findall(r"(?m)^    ([a-z0-9-]+(?: \| [a-z0-9-]+)*)\)", known) for name in row.split(" | ")}
        self.assertEqual({*worlds, "tsan"}, named)  # tsan is a preset, too
        self.assertEqual(text.count("options: --privileged"), text.count("image: debian:12"))

    def test_python_files_can_be_read(self):
        for file in PACKAGING.rglob("*"):
            if file.suffix in (".py", ".eb"):
                compile(file.read_text(), str(file), "exec")


if __name__ == "__main__":
    unittest.main()
