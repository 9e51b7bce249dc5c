"""Text that a page shows once and holds twice: for another width of the window, for machines, for the clipboard."""

from collections.abc import Sequence

LONG = 20  # words from which a line that stands there again is a copy and no refrain
LARGE, RUN = 60, 8  # words of a line that may hold others, and of the others' beginning and end
PART, COVERED = 0.3, 0.7  # of all words that such a line has, and of its words that the others have, at least


def copies(lines: Sequence[str], words: Sequence[float]) -> set[int]:
    """Numbers of lines that say again what others say, so that without them nothing is lost.

    Of long lines alike all but the first; and a large one whose pieces stand there as lines of their own, wherever.
    """
    found: set[int] = set()
    seen: set[str] = set()
    for number, count in enumerate(words):
        if count >= LONG:
            if lines[number] in seen:
                found.add(number)
            seen.add(lines[number])
    least = max(PART * sum(count for number, count in enumerate(words) if number not in found), LARGE)
    for large, count in enumerate(words):
        if count >= least and large not in found:
            smaller = {lines[n]: each for n, each in enumerate(words) if RUN <= each < count and n not in found}
            if sum(smaller.values()) >= COVERED * count and _held(smaller, lines[large]) >= COVERED * count:
                found.add(large)
    return found


def _held(lines: dict[str, float], large: str) -> float:
    """The words of the lines whose beginning and end stand in a large one."""
    said = large.split()
    runs = {tuple(said[at : at + RUN]) for at in range(len(said) - RUN + 1)}
    held = 0.0
    for line, count in lines.items():
        own = line.split()
        if tuple(own[:RUN]) in runs and tuple(own[-RUN:]) in runs:
            held += count
    return held
