"""Completion for zsh, by its function _arguments."""

from hios.manual.bash import identifier
from hios.manual.pages import brief

COLON_READ_TWICE = r"\\\:"


def quoted(text):
    """A word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def plain(text):
    """Text without the characters that end a part of a specification."""
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def word_or_file(words, files="_files"):
    """An action, in which colons are those of another command."""
    return f' _alternative "words\\:word\\:({" ".join(map(plain, words))})" "files\\:file\\:{files}"'


def action(flag):
    """How the value is completed."""
    files = {"": "", "folder": "_files -/"}.get(flag.file, "_files")
    if files and flag.values:
        return word_or_file(flag.values, files)
    if flag.is_list and flag.values:  # _values reads its words once more
        return f" _values -s , word {' '.join(value.replace(':', COLON_READ_TWICE) for value in flag.values)}"
    return files or (f"({' '.join(map(plain, flag.values))})" if flag.values else " ")


def specification(flag):
    """The words of _arguments for a flag; one with a letter has a word for each spelling."""
    others = "*" if flag.repeatable else ""
    if len(flag.spellings) > 1:
        others = f"({' '.join(flag.spellings)})"
    help_text = f"[{plain(brief(flag.text))}]"
    value = ""
    if flag.argument:
        value = f":{':' if flag.optional else ''}{plain(flag.argument)}:{action(flag)}"
    words = []
    for name in flag.spellings:
        joins = "" if not flag.argument or not name.startswith("--") else "=-" if flag.optional else "="
        words.append(quoted(f"{others}{name}{joins}{help_text}{value}"))
    return words


def table(name, flags, words=(), files=False):
    """A function that completes flags."""
    lines = [word for flag in flags for word in specification(flag)]
    if words and files:
        lines.append(quoted(f"*:model:{word_or_file(words)}"))
    elif files:
        lines.append(quoted("*:file:_files"))
    return f"{name}() {{\n  _arguments -s -S \\\n    " + " \\\n    ".join(lines) + "\n}\n"


def commands_text(page, name):
    parts, cases = [], []
    for command in page.commands:
        each = f"{name}_command{identifier(command.name)}"
        parts.append(table(each, command.flags, command.words, command.files))
        cases.append(f"    {command.name}) {each} ;;")
    described = " ".join(quoted(f"{each.name}:{plain(each.text)}") for each in page.commands)
    choose = (f"{name}() {{\n  local -a commands=({described})\n"
              "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
              "  shift words; (( CURRENT-- ))\n"
              "  case $words[1] in\n" + "\n".join(cases) + "\n  esac\n}\n")
    return "".join(parts) + choose


def text(page):
    name = identifier(page.name)
    body = commands_text(page, name) if page.commands else table(name, page.flags, page.models, bool(page.models))
    return f"#compdef {page.name}\n{body}{name} \"$@\"\n"
