"""Chosen pixels as a picture on the terminal."""

from rich.text import Text


def pixel_picture(ranks: dict[int, int], side: int) -> Text:
    """A side x side grid; chosen pixels show their rank, the better the brighter; the others are dots.

    >>> print(pixel_picture({0: 2, 3: 1}, side=2))
       2  ·
       ·  1
    """
    picture = Text()
    for pixel in range(side * side):
        if pixel % side == 0:
            picture.append("\n " if pixel else " ")
        rank = ranks.get(pixel)
        if rank is None:
            picture.append("  ·", style="dim")
        else:
            third = 3 * (rank - 1) // len(ranks)
            picture.append(f"{rank:3d}", style=("bold white on blue", "white on blue", "blue")[third])
    return picture
