"""Mutants: changes of one place of the code each, read from list.toml, and their insertion into the code.

All mutants are compiled at once, so that the code is built once and not once a mutant: each changed place asks
at run time if its mutant is the chosen one (Untch, Offutt and Harrold, "Mutation analysis using mutant schemata",
ISSTA 1993).
"""

import hashlib
import tomllib
from dataclasses import dataclass

SWITCH = "mutants_switch.h"
SWITCH_TEXT = """#pragma once

#include <cstdlib>

/// Returns true if the environment's HIOS_MUTANT chooses this mutant.
inline bool hios_mutant(unsigned long number) {
  static const unsigned long chosen = [] {
    const char* const text = std::getenv("HIOS_MUTANT");
    return text == nullptr ? 0 : std::strtoul(text, nullptr, 16);
  }();
  return chosen == number;
}
"""


class ListError(Exception):
    """The list does not fit the code, or is wrong by itself; the message names the entry."""


@dataclass(frozen=True)
class Suite:
    """The programs to build and the tests to run for some mutants."""
    name: str
    targets: tuple[str, ...]
    tests: str  # a regular expression of names that CTest knows


@dataclass(frozen=True)
class Mutant:
    file: str
    text: str
    becomes: str
    suite: Suite
    equivalent: str = ""  # the reason why no test can tell the difference

    @property
    def key(self):
        """Eight hexadecimal digits, which stay when entries come and go."""
        return hashlib.sha256("\0".join((self.file, self.text, self.becomes)).encode()).hexdigest()[:8]

    @property
    def is_statement(self):
        return self.text.endswith((";", "}"))

    def title(self):
        return f"{self.file}: {shown(self.text)} -> {shown(self.becomes) or '(nothing)'}"


def shown(text):
    return " ".join(text.split())


def read_list(path):
    """Returns the mutants of a list. Throws ListError."""
    content = tomllib.loads(path.read_text())
    if unknown := sorted(content.keys() - {"suite", "mutant"}):
        raise ListError(f"{path.name} has the unknown keys {', '.join(unknown)}")
    suites = {name: Suite(name, tuple(suite["targets"]), suite["tests"]) for name, suite in content["suite"].items()}
    mutants = [mutant_of(entry, suites) for entry in content["mutant"]]
    for i, mutant in enumerate(mutants):
        if any(mutant.key == other.key for other in mutants[:i]):
            raise ListError(f"{mutant.title()}: listed twice")
    return mutants


def mutant_of(entry, suites):
    where = f"the entry of {entry.get('file', '(no file)')} with the text {shown(entry.get('text', '(none)'))}"
    if missing := sorted({"file", "text", "becomes", "suite"} - entry.keys()):
        raise ListError(f"{where} lacks {', '.join(missing)}")
    if unknown := sorted(entry.keys() - {"file", "text", "becomes", "suite", "equivalent"}):
        raise ListError(f"{where} has the unknown keys {', '.join(unknown)}")
    if entry["suite"] not in suites:
        raise ListError(f"{where}: there is no suite {entry['suite']}; there are {', '.join(sorted(suites))}")
    mutant = Mutant(**{**entry, "suite": suites[entry["suite"]]})
    if mutant.text == mutant.becomes:
        raise ListError(f"{where} changes nothing")
    if not mutant.becomes and not mutant.is_statement:
        raise ListError(f"{where}: an expression cannot become nothing; list a statement, with its semicolon")
    return mutant


def place_of(mutant, code):
    """Returns where the mutant's text begins and ends. Throws ListError unless it occurs once."""
    count = code.count(mutant.text)
    if count != 1:
        raise ListError(f"{mutant.file} has the text {mutant.text!r} {count} times instead of once: "
                        "correct the entry in scripts/mutants/list.toml")
    begin = code.index(mutant.text)
    return begin, begin + len(mutant.text)


def switched(mutants, text):
    """Returns code that is `text` unless one of the mutants of this place is chosen."""
    if mutants[0].is_statement:
        for mutant in mutants:
            text = f"{{ if (hios_mutant(0x{mutant.key})) {{ {mutant.becomes} }} else {{ {text} }} }}"
        return text
    chain = "".join(f"hios_mutant(0x{mutant.key}) ? ({mutant.becomes}) : " for mutant in mutants)
    return f"({chain}({text}))"


def insert(mutants, code):
    """Returns a file's code with its mutants, of which the environment chooses one. Lines keep their numbers."""
    by_place = {}
    for mutant in mutants:
        by_place.setdefault(place_of(mutant, code), []).append(mutant)
    end_of_last = 0
    for begin, end in sorted(by_place):
        if begin < end_of_last:
            raise ListError(f"{by_place[begin, end][0].title()}: overlaps another entry")
        end_of_last = end
    for begin, end in sorted(by_place, reverse=True):
        code = code[:begin] + switched(by_place[begin, end], code[begin:end]) + code[end:]
    return f'#include "{SWITCH}"\n#line 1\n{code}'
