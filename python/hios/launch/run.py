"""hios run: hios-run on as many ranks as the schedule has devices, or --ranks N; pictures in, answers out."""

from hios.answers import running
from hios.launch.start import become, count, devices_of, take, with_model_flag


def main(words):
    if {"-h", "--help", "--help=all"} & set(words):
        print(running.HELP)
        become("hios-run", ["--help=all" if {"all", "--help=all"} & set(words) else "--help"])
    ranks, rest = take(with_model_flag(words), "--ranks")
    schedule, _ = take(rest, "--schedule")
    ranks = count(ranks, "--ranks") if ranks else devices_of(schedule) if schedule else 1
    answers, rest = running.take_answers(rest)
    if not answers.needed():
        become("hios-run", rest, ranks)
    return running.run(answers, rest, ranks)
