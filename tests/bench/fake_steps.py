"""Steps of bench/gpu that start nothing, for the tests of its parts."""

from steps import Outcome


class PlentyOfTime:
    seconds = 500.0

    def left(self):
        return self.seconds


class FakeSteps:
    """Answers each command as `answer(words)` says: '' when it worked, else why not."""

    def __init__(self, answer):
        self.answer, self.commands, self.deadline = answer, [], PlentyOfTime()

    def run(self, name, command, limit_s, environment=None):
        words = list(map(str, command))
        self.commands.append(words)
        why = self.answer(words)
        return Outcome(name, 1 if why else 0, 0.1, why=why)

    def say(self, text):
        pass

    note = say
