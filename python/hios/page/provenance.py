"""Where the figures come from: programs, machine, command lines and digests."""

import shlex

from hios.page import numbers


def text(value):
    """A value of a free object, as one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(one)}" for key, one in value.items() if one not in ("", None))
    if isinstance(value, list):
        return ", ".join("-" if one is None else text(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def cores_text(rank):
    cores = rank["cores"]
    return f"core{'s' if len(cores) > 1 else ''} {', '.join(map(str, cores))}" if cores else "not pinned"


def compared_text(verified):
    number = verified["operators"]
    return f"{number} operator{'s' if number != 1 else ''} compared with the backend {verified['reference']}"


def verified_text(verified):
    words = ["passed" if verified["passed"] else "FAILED", compared_text(verified)]
    if verified["max_abs"] is not None:
        words.append(f"largest difference {verified['max_abs']:.2g}")
    if verified["bitwise"] is not None:
        unequal = f"not the bits of one rank, first {verified['first_unequal']}"
        words.append("bit for bit those of one rank" if verified["bitwise"] else unequal)
    return "; ".join(words)


def report_lines(report):
    model = report["model"]
    yield "network", f"{model['name']}, batch {model['batch']}, {model['height']} x {model['width']}", ""
    yield "command", shlex.join(report["arguments"]), "code"
    yield "versions", text(report["versions"]), ""
    if report.get("date"):
        yield "date", report["date"], ""
    for rank in report["ranks"]:
        yield f"rank {rank['rank']}", f"{rank['host']}, {cores_text(rank)}, {text(rank['backend'])}", ""
    yield "transfers", report["transfer_path"], ""
    if report["verified"]:
        yield "verified", verified_text(report["verified"]), ""
    yield "protocol", text(report["protocol"]), ""
    if report["overhead_ms"] is not None:
        yield "overhead", f"{numbers.ms(report['overhead_ms'])} ms per iteration in the executor itself", ""
    yield "seed", str(report["seed"]), ""
    for name, digest in report["digests"].items():
        yield f"digest of {name}", digest, "code"
    if report.get("environment"):
        yield "environment", text(report["environment"]), "code"


def schedule_lines(schedule, with_report):
    graph = schedule["graph"]
    if not with_report:
        yield "graph", graph["name"], ""
        yield "digest of graph", graph["digest"], "code"
        yield "devices", ", ".join(f"{one['name']} ({one['kind']})" for one in schedule["devices"]), ""
    if schedule.get("options"):
        yield "options", text(schedule["options"]), ""
    if "seconds" in schedule:
        yield "scheduled in", f"{numbers.seconds(schedule['seconds'])} ({schedule.get('outcome', 'no outcome')})", ""


def provenance_of(run):
    """(name, text, form) of each fact."""
    lines = list(report_lines(run.report)) if run.report else []
    if run.schedule:
        lines += schedule_lines(run.schedule, bool(run.report))
    return lines
