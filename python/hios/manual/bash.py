"""Completion for bash. A file has the tables of one program and the function that reads them; it needs no other file, not even
those of the package bash-completion.
"""

import shlex

# The word under the cursor is taken from the line, since bash also breaks words at = and : (COMP_WORDBREAKS).
READER = r"""# %(prefix)s_complete TABLE: completes by TABLE_value, TABLE_flags and TABLE_words.
%(prefix)s_complete() {
  local table=$1 line=${COMP_LINE:0:COMP_POINT} words='' files='' list='' joined=''
  local word=${line##*[[:space:]]} current=${COMP_WORDS[COMP_CWORD]}
  local before=${line%%"$word"}
  before=${before%%"${before##*[![:space:]]}"}
  local flag=${before##*[[:space:]]} value=$word
  case $word in --*=*) flag=${word%%%%=*} value=${word#*=} joined=1 ;; esac
  case $current in =|:) current= ;; esac
  COMPREPLY=()
  if ! "${table}_value" "$flag" "$joined"; then
    case $word in
      -*) mapfile -t COMPREPLY < <(compgen -W "$("${table}_flags")" -- "$word"); return ;;
    esac
    value=$word
    "${table}_words"
    if [ -z "$word$files" ]; then words+=" $("${table}_flags")"; fi
  fi
  local start='' last=$value reply
  if [ -n "$list" ] && [ "$value" != "${value##*,}" ]; then start=${value%%,*}, last=${value##*,}; fi
  while read -r reply; do COMPREPLY+=("$reply"); done < <(compgen -P "$start" -W "$words" -- "$last")
  local kept=${value%%"$current"}
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
  if [ -n "$list" ]; then compopt -o nospace 2>/dev/null; fi
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while read -r reply; do COMPREPLY+=("$reply"); done < <(compgen "$files" -- "$current")
  fi
}
"""


def identifier(name):
    return "_" + name.replace("-", "_")


def settings(flag):
    """The assignments that say what a flag takes."""
    parts = []
    if flag.values:
        parts.append(f"words={shlex.quote(' '.join(flag.values))}")
    if flag.file:
        parts.append("files=-d" if flag.file == "folder" else "files=-f")
    if flag.is_list:
        parts.append("list=1")
    return " ".join(parts) or ":"


def table(prefix, flags, words=(), files=False):
    """The three functions of a table."""
    lines = [f"{prefix}_value() {{", "  case $1 in"]
    for flag in flags:
        if not flag.argument:
            continue
        # A value that may be left out is joined to its flag; --help takes the next word, too.
        joined = '[ -n "$2" ] || return 1; ' if flag.optional and flag.name != "help" else ""
        lines.append(f"    {'|'.join(flag.spellings)}) {joined}{settings(flag)} ;;")
    lines += ["    *) return 1 ;;", "  esac", "}"]
    spellings = " ".join(name for flag in flags for name in flag.spellings)
    takes = [f"words={shlex.quote(' '.join(words))}"] if words else []
    takes += ["files=-f"] if files else []
    lines += [f"{prefix}_flags() {{ echo {shlex.quote(spellings)}; }}", f"{prefix}_words() {{ {'; '.join(takes) or ':'}; }}"]
    return "\n".join(lines) + "\n"


def commands_text(page, prefix):
    """The tables of all commands, and the function that chooses one by the first word."""
    parts, cases = [], []
    for command in page.commands:
        each = f"{prefix}_command{identifier(command.name)}"
        parts.append(table(each, command.flags, command.words, command.files))
        cases.append(f"    {command.name}) {prefix}_complete {each} ;;")
    names = " ".join(command.name for command in page.commands)
    parts.append("\n".join([f"{prefix}_any() {{",
                            f"  if [ \"$COMP_CWORD\" -le 1 ]; then {prefix}_complete {prefix}; return; fi",
                            "  case ${COMP_WORDS[1]} in", *cases, "  esac", "}"]) + "\n")
    return table(prefix, page.flags, names.split()) + "".join(parts)


def text(page):
    prefix = identifier(page.name)
    source = f"{page.name} --describe-flags" if page.flags and not page.commands else "the commands of hios"
    head = f"# bash completion of {page.name}, made from {source}\n"
    if page.commands:
        body, start = commands_text(page, prefix), f"{prefix}_any"
    else:
        body = table(prefix, page.flags, page.models, bool(page.models)) + f"{prefix}_any() {{ {prefix}_complete {prefix}; }}\n"
        start = f"{prefix}_any"
    return head + READER % {"prefix": prefix} + body + f"complete -F {start} {page.name}\n"
