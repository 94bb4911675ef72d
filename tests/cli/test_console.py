"""What others wrote is seen on the screen, and steers nothing there."""

import io

import pytest
from rich.table import Table

from fedsieve.cli import console
from fedsieve.errors import DataError

EVIL = "\x1b]0;owned\x07\x1b[2J[red]all is well[/red]\u202e:boom:"
SEEN = r"\x1b]0;owned\x07\x1b[2J[red]all is well[/red]\u202e:boom:"


@pytest.fixture
def screen(monkeypatch):
    """A terminal that would obey."""
    text = io.StringIO()
    for stream in (console.out, console.err, console.alarm):
        monkeypatch.setattr(stream, "_file", text)
        monkeypatch.setattr(stream, "_force_terminal", True)
        monkeypatch.setattr(stream, "_color_system", None)
        monkeypatch.setattr(stream, "_width", 200)
    return text


def test_a_line_is_printed_as_it_reads(screen):
    console.say(EVIL)
    assert screen.getvalue() == SEEN + "\n"


def test_a_cell_and_a_title_are_printed_as_they_read(screen):
    table = Table(EVIL, title=EVIL)
    table.add_row(EVIL)
    console.out.print(table)
    assert screen.getvalue().count(SEEN) == 3
    assert "\x1b" not in screen.getvalue()
    assert "\u202e" not in screen.getvalue()


@pytest.mark.parametrize("tell", [console.warn, lambda text: console.complain(DataError(text))])
def test_an_error_or_a_warning_is_one_line_whatever_it_quotes(screen, tell):
    tell(f"{EVIL}\nError: pay me")
    assert screen.getvalue().count("\n") == 1
    assert SEEN + r"\nError: pay me" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_our_own_line_ends_stay(screen):
    console.say("one\ntwo")
    assert screen.getvalue() == "one\ntwo\n"
