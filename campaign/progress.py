"""How far a campaign is: one line that changes on a terminal, elsewhere a line every ten seconds."""

import sys
import time

EVERY = {True: 0.5, False: 10}  # seconds between two tellings, by whether it is a terminal


def time_text(seconds):
    if seconds < 90:
        return "%d s" % round(seconds)
    if seconds < 90 * 60:
        return "%d min" % round(seconds / 60)
    return "%.1f h" % (seconds / 3600)


def time_left(done, left, seconds):
    """From what was done in so many seconds; no estimate without anything done."""
    return None if done <= 0 else left * seconds / done


class Progress:
    def __init__(self, to=sys.stderr, clock=time.monotonic):
        self.to, self.clock = to, clock
        self.is_terminal = to.isatty()
        self.told = None
        self.is_shown = False

    def begin(self, tasks, answered):
        self.tasks, self.before, self.begun = tasks, answered, self.clock()
        self.told = self.begun

    def tell(self, left, running, deaths):
        now = self.clock()
        if now - self.told < EVERY[self.is_terminal]:
            return
        self.told = now
        line = self.line(left, running, deaths, now - self.begun)
        if self.is_terminal:
            self.to.write("\r\033[K" + line)
            self.is_shown = True
        else:
            self.to.write(line + "\n")
        self.to.flush()

    def line(self, left, running, deaths, seconds):
        over = self.tasks - left
        estimate = time_left(over - self.before, left, seconds)
        return "barracuda: %d of %d tasks, %d under way%s, %s" % (
            over, self.tasks, running, ", %d died" % deaths if deaths else "",
            "no estimate yet" if estimate is None else "about %s left" % time_text(estimate))

    def say(self, text):
        """What stays."""
        self.end()
        self.to.write("barracuda: %s\n" % text)
        self.to.flush()

    def end(self):
        if self.is_shown:
            self.to.write("\r\033[K")
            self.to.flush()
            self.is_shown = False
