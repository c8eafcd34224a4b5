"""The runbook as the drills read it: its table of symptoms, and the chapters that the table names."""

import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../RUNBOOK.md")
HEAD = "| you see | it is | do |"
# A cell may hold an escaped bar.
BAR = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\]\(#([^)]+)\)")


class Row:
    """A row of the table: what one sees, and the anchors of the chapters that it leads to."""

    def __init__(self, line):
        cells = [cell.strip() for cell in BAR.split(line.strip().strip("|"))]
        self.see, self.text = cells[0], line
        self.chapters = LINK.findall(line)


class Runbook:
    def __init__(self, text=None):
        if text is None:
            with open(PATH) as file:
                text = file.read()
        self.text = text
        self.chapters = {}
        for part in re.split(r"^## ", text, flags=re.M)[1:]:
            title, _, body = part.partition("\n")
            self.chapters[anchor(title)] = body
        table = text.partition(HEAD)[2].partition("\n\n")[0]
        self.rows = [Row(line) for line in table.splitlines()[2:]]

    def words_for(self, row, also=()):
        """All that the runbook tells somebody who has this row before him: the row, its chapters, the first look."""
        chapters = ["look-first", *row.chapters, *also]
        return "\n".join([row.text, *(self.chapters[chapter] for chapter in chapters)]).replace("\\|", "|")


def anchor(title):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
