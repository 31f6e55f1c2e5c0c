"""Words for people: what a mistyped word was meant to be."""

import difflib


def did_you_mean(word, known):
    """" (did you mean …?)", or nothing where no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""
