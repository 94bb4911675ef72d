"""The page as a file: its size, its policy, and names that stay names. What a browser makes of it: tests/browser."""

import base64
import gzip
import hashlib
import json
import re
import struct
import tomllib
import zlib
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from fedsieve.report.markdown import as_markdown, escaped
from fedsieve.report.page import render_page
from fedsieve.report.page.image import FAR, NEAR, picture
from fedsieve.report.summary import summarize, summarize_comparison, summarize_evaluation
from report_records import HOSTILE, evaluation, record_of

ROOT = Path(__file__).parents[2]


class Tags(HTMLParser):
    """The tags of a page, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.in_script = tag == "script"
        if self.in_script:
            self.scripts.append("")

    def handle_endtag(self, tag):  # noqa: ARG002
        self.in_script = False

    def handle_data(self, data):
        if self.in_script:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page():
    return render_page(summarize(record_of([*HOSTILE, *(f"f{i}" for i in range(40))], 12), evaluation()))


def test_the_policy_allows_the_page_s_own_scripts_and_nothing_else(page):
    tags = Tags(page)
    policy = next(at["content"] for tag, at in tags.found if at.get("http-equiv") == "Content-Security-Policy")
    rules = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert (rules["default-src"], rules["style-src"], rules["img-src"]) == ("'none'", "'unsafe-inline'", "data:")
    attributes = (at for tag, at in tags.found if tag == "script")
    run = [text for text, at in zip(tags.scripts, attributes, strict=True) if not at]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert len(run) == 3
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_nothing_is_loaded_from_elsewhere(page):
    for tag, attributes in Tags(page).found:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form action")
        assert not any(name.startswith("on") for name in attributes), attributes
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")


def test_hostile_names_make_no_tag(page):
    plain = Tags(render_page(summarize(record_of([f"f{i}" for i in range(40 + len(HOSTILE))], 12), evaluation())))
    assert [tag for tag, _ in Tags(page).found] == [tag for tag, _ in plain.found]
    assert "&lt;script&gt;document.title=" in page


def test_the_page_carries_the_whole_summary(page):
    packed = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page)[1]
    summary = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert summary == summarize(record_of([*HOSTILE, *(f"f{i}" for i in range(40))], 12), evaluation())


@pytest.mark.parametrize(("d", "most"), [(1000, 1.5e6), (20_000, 3e6)])
def test_the_page_of_many_features_stays_small(d, most, rng):
    names = [f"gene_{i:06d}_expression" for i in range(d)]
    record = record_of(names, 150)
    draws = rng.integers([d, 14, 14, 101, d, d, d, 100], size=(d, 8)).tolist()
    record["why"] = {  # as long as real ones, and no two alike
        name: f"not selected, {place}th of {d}: {a}th in relevance, most for 'label_{b}' and 'label_{c}'; chosen in "
        f"{e} % of the bootstraps (rank {f} to {g}); much like {names[h]!r}, which is chosen (|correlation| 0.{i:02d})."
        for place, (name, (a, b, c, e, f, g, h, i)) in enumerate(zip(names, draws, strict=True), start=1)
    }
    size = len(render_page(summarize(record, evaluation())).encode())
    assert size < most, size


def test_the_same_summary_gives_the_same_page():
    summary = summarize(record_of("abcdef", 3))
    assert render_page(summary) == render_page(summary)


def test_a_comparison_has_its_own_page():
    names = [f"f{i}" for i in range(9)]
    summary = summarize_comparison(record_of(names, 3), record_of(names[::-1], 3), ("<a>/", "b/"))
    text = render_page(summary)
    assert "&lt;a&gt;/" in text
    assert 'id="rank-shifts"' in text


def test_an_interval_that_is_not_known_is_said_in_its_place():
    record = evaluation()
    row = next(row for row in record["summary"] if row["gain"] is not None and row["own"])
    row |= {"gain_low": None, "gain_high": None}
    told = re.findall(r'data-title="95 % interval"[^>]*>([^<]*)<', render_page(summarize_evaluation(record)))
    assert told.count("not known") == 1
    assert len(told) > 1


def test_an_evaluation_has_its_own_page_and_text():
    summary = summarize_evaluation(evaluation())
    text = render_page(summary)
    assert 'id="quality-3"' in text
    assert "a | &lt;b&gt;" in text
    assert "<li>A note.</li>" in text.replace(' dir="auto"', "")
    text = as_markdown(summary)
    assert f"**{summary['answer']}**" in text
    assert r"| a \| \<b\> | 20 | " in text
    assert "| feature\\_001 | 0.67 |" in text


def test_the_picture_is_a_png_whose_light_pixels_are_near():
    def rows(image):
        content = image[image.index(b"IDAT") + 4 :]
        return zlib.decompressobj().decompress(content)

    image = picture([[1.0, 0.0], [0.0, 1.0]], 1.0, near_is_high=True)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", image[16:24]) == (2, 2)
    assert rows(image) == b"\0" + bytes((NEAR, FAR)) + b"\0" + bytes((FAR, NEAR))
    assert rows(picture([[0.0, 5.0], [5.0, 0.0]], 5.0, near_is_high=False)) == rows(image)


def test_vendored_files_are_those_that_are_listed():
    listed = tomllib.loads((files("fedsieve.report.page") / "vendored.toml").read_text(encoding="utf-8"))["file"]
    inside = [file for file in listed if file["to"].startswith("src/")]
    folder = ROOT / "src" / "fedsieve" / "report" / "page" / "vendored"
    assert {ROOT / file["to"] for file in inside} == set(folder.glob("*.js"))
    for file in inside:
        assert hashlib.sha256((ROOT / file["to"]).read_bytes()).hexdigest() == file["sha256"], file["name"]


def test_names_are_no_markup_in_markdown():
    text = as_markdown(summarize(record_of([*HOSTILE, "plain"], 10), evaluation()))
    assert "\n| 1 | 1 to 6 | \\<script\\>document.title='owned'\\</script\\> |" in text
    assert r"a\|b \`c\` \*d\*" in text
    assert max(map(len, text.splitlines())) < 6000
    chosen = text.partition("\n## Features that matter")[0].splitlines()
    widths = {line.count("|") - line.count("\\|") for line in chosen if line.startswith("|")}
    assert len(widths) == 1


def test_the_table_of_features_in_markdown_has_all_columns_with_titles_alike():
    record = record_of([f"f{i}" for i in range(12)], 4)
    lines = as_markdown(summarize(record)).splitlines()
    (head,) = (line for line in lines if line.startswith("| rank |"))
    assert head == (
        "| rank | rank, range | feature | score | chance | relevance | redundancy | most like | stability | by SSFMLFS "
        "| why |"
    )
    row = next(line for line in lines if line.startswith("| 2 |")).split(" | ")
    assert (row[1:3], row[7]) == (["1 to 7", "f1"], "f0")


def test_markdown_tells_what_the_page_tells():
    record = record_of([f"f{i}" for i in range(12)], 4)
    record["influence"] = {"north": 0.9, "south": 0.0, "east": 0.0}
    record["left_out"] = ["rare_one"]
    record["sizes_tried"] = [
        {"k": 2, "ranking_loss": 0.25, "error": 0.01},
        {"k": 4, "ranking_loss": 0.125, "error": 0.02},
    ]
    summary = summarize(record)
    text = as_markdown(summary)
    assert escaped(summary["federation"]["warnings"][0]) in text
    for rule in summary["privacy"]["rules"]:
        assert f"| {escaped(rule['rule'])} | {escaped(rule['value'])} |" in text
    assert "Left out, because a total would tell of few rows: rare\\_one." in text
    for pair in summary["alike"]["closest"]:
        assert f"| {pair['first']} | {pair['second']} | {pair['value']} |" in text
    assert "| 2 | covariances of the columns | 300 B | 6.0 kB |" in text
    assert "| 4 | 0.125 | 0.02 |" in text


def test_a_number_that_is_shown_as_nothing_has_no_sign():
    record = record_of([f"f{i}" for i in range(12)], 4)
    record["relevance"]["f1"] = -0.00001
    assert "-0.0000" not in as_markdown(summarize(record))


@pytest.mark.parametrize("make", [render_page, as_markdown])
def test_long_names_are_cut_wherever_they_stand(make):
    long = ["x" * 5000 + str(i) for i in range(12)]
    record = record_of(long, 6, sites=long[:3])
    record |= {"labels": long, "left_out": long, "dropped": {long[0]: "y" * 5000}, "influence": {long[1]: 0.9}}
    record["per_label"] = {label: dict.fromkeys(long, 0.5) for label in long}
    other = record_of(long[::-1], 3, sites=long[3:6])
    for summary in (summarize(record), summarize_comparison(record, other, ("a/", "b/"))):
        text = re.sub(r'title="[^"]*"', "", make(summary).partition('id="data"')[0])
        assert max((len(found) for found in re.findall("x+", text)), default=0) <= 200
