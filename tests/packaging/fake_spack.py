"""Stands in for Spack: executes a package.py with directives that are recorded, and calls its cmake_args()."""

import sys
import types


class Recorded:
    """The directives that a package's class called, in order."""

    def __init__(self):
        self.calls = []

    def named(self, name):
        return [(words, options) for each, words, options in self.calls if each == name]


class Spec:
    """A spec with some variants on, as far as cmake_args() asks."""

    def __init__(self, on, cuda_arch=()):
        self.on = set(on)
        self.variants = {"cuda_arch": types.SimpleNamespace(value=tuple(cuda_arch))}

    def satisfies(self, text):
        return (text[1:] in self.on) == (text[0] == "+")


class Package:
    """The base of the package's class, as CMakePackage."""

    def define(self, name, value):
        return f"-D{name}={('ON' if value else 'OFF') if isinstance(value, bool) else value}"

    def define_from_variant(self, name, variant):
        return self.define(name, variant in self.spec.on)


def load(path):
    """Returns the package's class, and the directives that it called."""
    recorded = Recorded()
    names = {}
    for name in ("version", "variant", "depends_on", "conflicts", "generator"):
        names[name] = lambda *words, _name=name, **options: recorded.calls.append((_name, words, options))
    for name in ("run_after", "on_package_attributes"):
        names[name] = lambda *_, **__: lambda function: function
    names |= {"join_path": lambda *parts: "/".join(map(str, parts)), "which": None}
    modules = {"spack": {}, "spack.package": names, "spack_repo": {}, "spack_repo.builtin": {},
               "spack_repo.builtin.build_systems": {},
               "spack_repo.builtin.build_systems.cmake": {"CMakePackage": Package},
               "spack_repo.builtin.build_systems.cuda": {"CudaPackage": type("CudaPackage", (), {})}}
    for name, content in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    try:
        scope = {"__file__": str(path), "__name__": "package"}
        exec(compile(path.read_text(), str(path), "exec"), scope)  # noqa: S102: our own file
    finally:
        for name in modules:
            del sys.modules[name]
    return scope["Hios"], recorded
