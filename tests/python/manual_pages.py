"""A page with flags of every kind, as a program would describe it; shared by the tests of manual pages and completion."""

from hios.manual.pages import Flag, Page, page_of

FLAGS = [
    Flag("model", group="Model", argument="NAME|FILE", text="a built-in network; or a file", file="input",
         values=("squeezenet", "inception_v3")),
    Flag("backend", group="Ranks", argument="NAME[,NAME...]", default="auto", text="cpu:avx2 is cpu without newer 'words'",
         values=("auto", "cpu", "cpu:avx2", "cuda")),
    Flag("threads", group="Ranks", argument="N", text="cores per rank (profile: 1). More text"),
    Flag("force", group="Common", text="replace files: all \\ of them", daily=True),
    Flag("verify", group="Common", argument="operators", optional=True, text="compare [bit by bit] at 3.0 ms",
         values=("operators",)),
    Flag("outputs", group="Common", argument="FOLDER", text=".npy files go there", file="folder"),
    Flag("dim", group="Common", argument="NAME=N", repeatable=True, text="an extent — by its name"),
    Flag("help", "h", "Common", "all", True, text="print the flags", values=("all",)),
]
DESCRIPTION = {
    "program": "hios-run", "purpose": "run a network", "usage": "--model NAME|FILE [FLAG...]",
    "examples": [{"command": "hios-run --model squeezenet --verify", "result": "compared with plain loops"},
                 {"command": "mpirun -np 2 --bind-to none hios-run --model squeezenet --schedule schedule.json --profile "
                             "profile.json", "result": "on two ranks"}],
    "note": "Ctrl-C keeps what was measured.", "version": "0.1.0", "commit": "1c4bbc0f9a21", "date": "2026-11-26",
    "flags": [{**vars(flag), "values": list(flag.values)} for flag in FLAGS],
}


def page(program="hios-run"):
    return page_of({**DESCRIPTION, "program": program})


def pages():
    """Pages of the three programs, alike but for their names."""
    return [page(name) for name in ("hios-profile", "hios-schedule", "hios-run")]
