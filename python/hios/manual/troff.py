"""Manual pages: troff with the macros of man(7)."""

import re

EXIT_STATUS = (
    ("0", "done"),
    ("1", "it ran, but a check failed (--verify, --max-error)"),
    ("2", "bad usage or bad input; nothing ran"),
    ("3", "failure while running"),
    ("128 + n", "ended by signal n: 130 is Ctrl-C, 143 is SIGTERM, 129 is SIGHUP"),
)


def escaped(text):
    """Text without characters that mean something to troff, or that a terminal may lack."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for character, name in (("'", "\\(aq"), ('"', "\\(dq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(character, name)
    text = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in text)
    return "\\&" + text if text.startswith(".") else text


def folded(command, columns=72):
    """The lines of a command, broken before flags, which still run when they are pasted."""
    lines = []
    for part in re.split(r" (?=-)", command):
        if lines and len(lines[-1]) + len(part) + 3 <= columns:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}" if lines else part)
    return " \\\n".join(lines)


def spelled(flag):
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in flag.spellings)
    if not flag.argument:
        return names
    argument = f"\\fI{escaped(flag.argument)}\\fR"
    return f"{names}[={argument}]" if flag.optional else f"{names} {argument}"


def option(flag):
    """A flag's entry; words that its argument and its text do not name are added."""
    text = flag.text + (f" (default: {flag.default})" if flag.default else "")
    unnamed = [value for value in flag.values if value not in text and value not in flag.argument]
    if unnamed:
        text += f"; words that it takes: {', '.join(unnamed)}"
    return [".TP", spelled(flag), escaped(text)]


def options(page):
    lines = [".SH OPTIONS"]
    for group, flags in page.groups().items():
        if group:
            lines.append(f".SS {escaped(group)}")
        for flag in flags:
            lines += option(flag)
    return lines


def commands(page):
    """Commands, and the flags of those that start no program with a page of its own."""
    lines = [".SH COMMANDS"] if page.commands else []
    for command in page.commands:
        started = f"; its flags: {command.program}(1)" if command.program else ""
        lines += [".TP", f"\\fBhios {escaped(command.name)}\\fR", escaped(command.text + started)]
    for command in page.commands:
        if command.flags and not command.program:
            lines.append(f".SS Flags of hios {escaped(command.name)}")
            for flag in command.flags:
                lines += option(flag)
    return lines


def text(page):
    """The page of a program."""
    name = escaped(page.name)
    lines = [f'.TH {escaped(page.name.upper())} 1 "{page.date}" "hios {page.version}" "HIOS"',
             ".ad l", ".nh",  # flags are not broken, and lines not stretched
             ".SH NAME", f"{name} \\- {escaped(page.purpose)}",
             ".SH SYNOPSIS", f".B {name}", escaped(page.usage),
             ".SH EXAMPLES"]
    for command, result in page.examples:
        lines += [".PP", escaped(result[:1].upper() + result[1:]) + ":", ".PP", ".RS 4", ".nf", escaped(folded(command)), ".fi",
                  ".RE"]
    if page.note:
        lines += [".SH NOTES", escaped(page.note)]
    lines += [*commands(page), *options(page), ".SH EXIT STATUS"]
    for status, meaning in EXIT_STATUS:
        lines += [".TP", f".B {status}", escaped(meaning)]
    lines += [".PP", escaped("Under mpirun, a failure during a run gives mpirun's own status, which is only guaranteed not to "
                             "be 0.")]
    lines += [".SH SEE ALSO", ",\n".join(f".BR {escaped(each)} (1)" for each in page.see)]
    return "\n".join(lines) + "\n"
