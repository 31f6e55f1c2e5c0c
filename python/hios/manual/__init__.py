"""Manual pages and completion, made when the programs are built: python3 -m hios.manual.

    pages     the text of a program and its flags, which the program itself describes (--describe-flags)
    commands  the same of the command hios, from the table of its commands
    troff     manual pages
    bash, zsh, fish  completion
"""
