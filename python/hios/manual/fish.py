"""Completion for fish."""

from hios.manual.pages import brief

# Prints the words after those of the list that were typed.
LIST = r"""function __hios_list
  set -l typed (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -rf '(.*,)[^,]*$' '$1')
  printf '%s\n' "$typed"$argv
end"""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def takes(flag):
    """The flags of `complete` for a value: -x a word that is no file, -rF a file or a word."""
    if not flag.argument:
        return ""
    # A value that may be left out is completed after --flag= only.
    needs = "" if flag.optional else " -rF" if flag.file else " -x"
    words = " ".join(flag.values)
    if flag.is_list:
        words = f"(__hios_list {words})"
    return needs + (f" -a {quoted(words)}" if flag.values else "")


def line(program, flag, condition=""):
    letter = f" -s {flag.letter}" if flag.letter else ""
    return f"complete -c {program}{condition}{letter} -l {flag.name}{takes(flag)} -d {quoted(brief(flag.text))}"


def text(page):
    lines = [f"# fish completion of {page.name}", LIST, f"complete -c {page.name} -f"]
    first = " -n __fish_use_subcommand" if page.commands else ""
    lines += [line(page.name, flag, first) for flag in page.flags]
    if page.models:
        lines += [f"complete -c {page.name} -F", f"complete -c {page.name} -a {quoted(' '.join(page.models))}"]
    for command in page.commands:
        lines.append(f"complete -c {page.name}{first} -a {command.name} -d {quoted(brief(command.text))}")
        condition = f" -n '__fish_seen_subcommand_from {command.name}'"
        if command.files:
            lines.append(f"complete -c {page.name}{condition} -F")
        if command.words:
            lines.append(f"complete -c {page.name}{condition} -a {quoted(' '.join(command.words))}")
        lines += [line(page.name, flag, condition) for flag in command.flags]
    return "\n".join(lines) + "\n"
