"""Chosen pixels as a picture file."""

import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.image import imread

from fedsieve.errors import MissingExtraError
from fedsieve.report.pictures import draw_pixels

IMAGES = np.random.default_rng(0).integers(0, 17, (20, 64)).astype(float)


def test_the_picture_is_a_png_of_a_fair_size(tmp_path):
    draw_pixels(IMAGES, {"one": {9: 1, 10: 2, 63: 3}}, tmp_path / "p.png", "title")
    picture = imread(tmp_path / "p.png")
    height, width, _ = picture.shape
    assert width > 1.5 * height > 600
    assert list(tmp_path.iterdir()) == [tmp_path / "p.png"]


def test_other_pixels_give_another_picture(tmp_path):
    pictures = []
    for ranks in ({0: 1, 9: 2}, {0: 2, 9: 1}, {0: 1, 10: 2}, {0: 1}):
        draw_pixels(IMAGES, {"one": ranks}, tmp_path / "p.png", "title")
        pictures.append(imread(tmp_path / "p.png"))
    for index, picture in enumerate(pictures):
        assert all(not np.array_equal(picture, other) for other in pictures[:index])
    left = [picture[:, : picture.shape[1] // 2 - 20] for picture in pictures]
    assert all(np.array_equal(left[0], other) for other in left)  # the mean image is the same


def test_each_rank_is_written_on_its_pixel(tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr(Axes, "text", lambda _, x, y, text, **__: written.update({int(text): (y, x)}))
    draw_pixels(IMAGES, {"one": {0: 2, 13: 1}, "other": {56: 3}}, tmp_path / "p.png", "title")
    assert written == {1: (1, 5), 2: (0, 0), 3: (7, 0)}  # row and column


def test_nothing_is_left_where_drawing_fails(tmp_path, monkeypatch):
    def half(_: object, file, **__: object) -> None:
        file.write_bytes(b"\x89PNG")
        raise RuntimeError("lightning")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", half)
    with pytest.raises(RuntimeError, match="lightning"):
        draw_pixels(IMAGES, {"one": {0: 1}}, tmp_path / "p.png", "title")
    assert list(tmp_path.iterdir()) == []


def test_the_extra_is_named_where_matplotlib_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError) as error:
        draw_pixels(IMAGES, {"one": {0: 1}}, tmp_path / "p.png", "title")
    assert str(error.value) == (
        "drawing the picture needs the package 'matplotlib'. Install it with: pip install \"fedsieve[report]\""
    )
    assert list(tmp_path.iterdir()) == []
