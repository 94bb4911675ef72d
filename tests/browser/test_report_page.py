"""The report as people meet it: in a browser, on a phone, on paper, with the keyboard, with any names."""

import os
from pathlib import Path

import pytest

from fedsieve.report.page import render_page
from fedsieve.report.summary import summarize, summarize_comparison, summarize_evaluation
from report_records import HOSTILE, evaluation, record_of

pytestmark = pytest.mark.browser
NAMES = [f"feature_{i:03d}" for i in range(250)]
CHARTS = ("score-curve", "certainty", "map", "graph", "quality-0", "quality-1", "amounts", "shift-chart")
WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1400}
BETWEEN = {"narrow": 700, "upright": 768, "laptop": 1024, "wide": 1280, "widest": 1920}
SHOTS = "FEDSIEVE_SCREENSHOTS"  # the folder for pictures of the page, to look at; else pytest's own


def whole() -> dict:
    record = record_of(NAMES, 30)
    record["sizes_tried"] = [{"k": k, "ranking_loss": 1 / k, "error": 0.01} for k in (5, 10, 20, 30)]
    return summarize(record, evaluation(30))


def comparison() -> dict:
    other = record_of([*NAMES[5:40], *NAMES[:5], *NAMES[40:]], 25, sites=("north", "south"))
    return summarize_comparison(record_of(NAMES, 30), other, ("first/", "second/"))


def judged() -> dict:
    return summarize_evaluation(evaluation())


def names_shown(page) -> list[str]:
    return page.locator("#table tbody .name").all_text_contents()


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_everything_is_drawn_and_nothing_is_wider_than_the_window(show, width):
    page = show(whole(), width=width)
    for chart in CHARTS:
        assert page.locator(f"#{chart} .drawing svg[role=img]").count() == 1, chart
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(names_shown(page)) == 30


def served() -> dict:
    """A selection of real sites: they have seconds, and how much each one moves the choice."""
    record = record_of(NAMES, 30, sites=("hospital_of_the_north", "south", "east"))
    record["federation"] = {"run": "r1", "sites": list(record["n_rows"]), "absent": ["west"], "engine": "flwr 1"}
    record["timing"]["sites"] = dict.fromkeys(record["n_rows"], 12.3)
    record["influence"] = dict.fromkeys(record["n_rows"], 0.1)
    record["command"] = "fedsieve federation run fed/ " + "--labeled server.csv " * 12
    return summarize(record)


@pytest.mark.parametrize("width", (all_widths := WIDTHS | BETWEEN).values(), ids=all_widths)
@pytest.mark.parametrize("make", [whole, served, comparison, judged])
def test_at_no_width_a_column_of_a_table_is_out_of_sight(show, make, width):
    page = show(make(), width=width)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    hidden = page.locator(".scroll").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth)"
        ".map((one) => [one.ariaLabel, one.scrollWidth - one.clientWidth])"
    )
    assert not hidden
    last = {served: "#federation td[data-title='Moves the choice']", whole: "#table td[data-title='By SSFMLFS']"}
    if make in last:
        box = page.locator(last[make]).first.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_names_in_the_graph_do_not_lie_on_each_other(show, width):
    page = show(whole(), width=width)
    boxes = page.locator("#graph svg text[visibility=visible]").evaluate_all(
        "all => all.map((text) => text.getBoundingClientRect())"
    )
    assert len(boxes) >= 5
    assert not [1 for place, one in enumerate(boxes) for other in boxes[:place] if meet(one, other)]


def test_a_long_command_is_whole_on_paper(show):
    summary = whole()
    summary["provenance"]["command"] = "fedsieve select " + "--client site.csv " * 60
    page = show(summary)
    page.emulate_media(media="print")
    assert page.locator("pre").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_columns_sort_both_ways_and_say_so(show):
    page = show(whole())
    head = page.locator("#table thead th", has_text="Stability")
    summary = whole()["features"]
    by_value = dict(zip(summary["names"], summary["values"]["stability"], strict=True))
    for direction, wanted in (("descending", -1), ("ascending", 1)):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == direction
        assert names_shown(page) == sorted(NAMES[:30], key=lambda name: wanted * by_value[name])
    assert page.locator("#table [aria-sort]").count() == 1


def test_a_number_that_is_shown_as_nothing_has_no_sign(show):
    record = record_of(NAMES, 3)
    record["relevance"][NAMES[1]] = -0.00001
    assert show(summarize(record)).locator("#table td[data-title=Relevance]").all_text_contents()[1] == "0.0000"


def test_search_and_pages(show):
    page = show(whole())
    page.get_by_label("all", exact=True).check()
    assert (len(names_shown(page)), page.locator("#shown").text_content()) == (100, "1 to 100 of 250")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    assert names_shown(page) == NAMES[200:]
    assert page.get_by_role("button", name="Next").is_disabled()
    page.get_by_role("searchbox").fill("URE_24")
    assert names_shown(page) == NAMES[240:250]
    page.get_by_role("searchbox").fill("nothing like it")
    assert page.locator("#shown").text_content() == "No feature has that in its name."


@pytest.mark.parametrize("which", ["chosen", "others", "all"])
def test_a_search_that_is_cleared_leaves_what_was_shown_before(show, which):
    page = show(whole())
    page.get_by_label(which, exact=True).check()
    before = page.locator("#shown").text_content()
    search = page.get_by_role("searchbox")
    search.fill("feature_2")
    search.fill("feature_24")
    assert names_shown(page) == NAMES[240:250]
    search.fill("")
    assert page.get_by_label(which, exact=True).is_checked()
    assert page.locator("#shown").text_content() == before
    search.fill("feature_24")
    page.get_by_label("others", exact=True).check()  # what is said during a search stays
    search.fill("")
    assert page.get_by_label("others", exact=True).is_checked()


def test_the_table_is_used_by_the_keyboard_alone(show):
    page = show(whole())
    page.get_by_role("searchbox").focus()
    page.keyboard.type("feature_1")
    assert len(names_shown(page)) == 100
    page.locator("#table thead button").nth(1).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert names_shown(page)[0] == "feature_199"


def test_pointing_tells_more(show):
    page = show(whole())
    box = page.locator("#score-curve svg").first.bounding_box()
    page.locator("#score-curve svg").first.scroll_into_view_if_needed()
    page.locator("#score-curve svg").first.hover(position={"x": box["width"] / 2, "y": box["height"] / 2})
    page.wait_for_selector("#score-curve [aria-label=tip] text")
    assert "rank" in page.locator("#score-curve [aria-label=tip]").text_content()
    cells = page.locator("#map svg .cells")
    cells.hover(position={"x": 3, "y": 200})
    assert " and " in page.locator("#map-pair").text_content()
    page.locator("#graph circle").first.hover()
    assert page.locator('#graph line[stroke="var(--warm)"]').count() >= 2


def test_the_graph_zooms(show):
    page = show(whole())
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom in").click()
    assert "scale(2.25)" in page.locator("#graph svg > g").get_attribute("transform")
    page.get_by_role("button", name="Reset").click()
    assert "scale(1)" in page.locator("#graph svg > g").get_attribute("transform")


def test_an_empty_selection_opens_with_all_features(show):
    page = show(summarize(record_of(NAMES, 0) | {"pairs": None}))
    assert "chose none of 250 features" in page.locator("#answer").text_content()
    assert names_shown(page) == NAMES[:100]
    assert page.locator("#shown").text_content() == "1 to 100 of 250"
    page.get_by_label("chosen", exact=True).check()
    assert (names_shown(page), page.locator("#shown").text_content()) == ([], "No features.")
    assert "chosen" not in page.locator("#score-curve svg").text_content()


def test_a_comparison(show):
    page = show(comparison())
    for chart in ("overlap-curve", "rank-shifts"):
        assert page.locator(f"#{chart} .drawing svg[role=img]").count() == 1
    assert "both, where chance would give" in page.locator("#answer").text_content()
    entered = page.locator("tr", has=page.locator(".entered"))
    assert set(entered.locator("th").all_text_contents()) <= set(NAMES)
    assert "rows of east" in page.locator("#settings").text_content()


def test_an_evaluation(show):
    page = show(judged())
    for place in range(4):
        assert page.locator(f"#quality-{place} .drawing svg[role=img]").count() == 1
    assert names_shown(page) == ["feature_000", "feature_001", "feature_002"]
    page.get_by_role("searchbox").fill("feature_2")
    assert len(names_shown(page)) == 50
    assert page.locator("#differences tbody tr").count() == 12


def test_on_paper_are_all_chosen_features_and_no_controls(show):
    record = record_of(NAMES, 130)
    page = show(summarize(record))
    assert len(names_shown(page)) == 100
    page.get_by_role("searchbox").fill("feature_00")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert names_shown(page) == NAMES[:130]
    assert not page.get_by_role("searchbox").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("details:not([open])").count() == 0
    assert page.get_by_text("Versions").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(names_shown(page)) == 10
    assert page.locator("details[open]").count() == 0
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("make", [whole, comparison, judged])
def test_nothing_keeps_people_from_using_it(show, axe, make, scheme):
    page = show(make(), scheme=scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    # Not as a script of the page, which its policy forbids, but by the debugger.
    found = page.evaluate(f"(() => {{ {axe} }})(); axe.run()")
    told = [f"{one['id']}: {[node['html'][:150] for node in one['nodes']]}" for one in found["violations"]]
    assert not told, "\n".join(told)
    assert len(found["passes"]) > 20


def test_hostile_names_are_shown_as_text(show):
    summary = summarize(record_of([*HOSTILE, *NAMES], 20), evaluation())
    page = show(summary, width=WIDTHS["phone"])
    assert names_shown(page)[: len(HOSTILE)] == summary["features"]["names"][: len(HOSTILE)]
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert max(heights(page)) < 500


def heights(page) -> list[int]:
    """Of the rows of all tables, those that a click opens too."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    return page.evaluate("[...document.querySelectorAll('tr')].map((row) => row.offsetHeight)")


def test_hostile_names_of_sites_and_labels_are_shown_as_text(show):
    record = record_of([*HOSTILE, *NAMES], 9, sites=HOSTILE[:6])
    record["labels"] = list(HOSTILE)
    record["per_label"] = dict.fromkeys(HOSTILE, record["relevance"])
    record["dropped"] = {HOSTILE[0]: HOSTILE[1], HOSTILE[5]: HOSTILE[5]}
    page = show(summarize(record), width=WIDTHS["phone"])
    assert HOSTILE[1] in page.locator("#federation").text_content()
    assert "owned" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert max(heights(page)) < 500


def test_axes_of_ranks_have_whole_ticks_and_their_labels_stand_apart(show):
    names = NAMES[:4]
    one, other = record_of(names, 3), record_of(names[::-1], 2)
    for summary, place in (
        (summarize(one), "certainty"),
        (summarize_comparison(one, other, ("a", "b")), "rank-shifts"),
    ):
        texts = show(summary).locator(f"#{place} .drawing svg[role=img] text")
        assert {"1", "2", "3", "4"} <= set(texts.all_text_contents())
        assert not [text for text in texts.all_text_contents() if "." in text]
    page = show(whole())
    places = "all => all.map((text) => [text.textContent, text.getBoundingClientRect()])"
    boxes = page.locator("#certainty svg text").evaluate_all(places)
    label = next(box for text, box in boxes if text.startswith("rank"))
    assert not [text for text, box in boxes if box is not label and meet(box, label)]


@pytest.mark.parametrize("k", [1, 2, 3, 30])
def test_certain_ranks_run_from_the_top_down_in_rows_of_their_own(show, k):
    page = show(summarize(record_of(NAMES, k) | ({"pairs": None} if k == 1 else {})))
    places = "all => all.map((one) => [one.textContent, one.getBoundingClientRect().top])"
    names = page.locator("#certainty svg text", has_text="feature_").evaluate_all(places)
    assert [text.split()[0] for text, _ in sorted(names, key=lambda one: one[1])] == [str(i + 1) for i in range(k)]
    dots = page.locator("#certainty svg circle[r='4']").evaluate_all(places)
    tops = sorted(top for _, top in dots)
    assert [top for _, top in dots] == tops
    assert len(set(tops)) == k


def test_points_of_an_overlap_stand_over_their_ticks(show):
    one, other = record_of(NAMES, 30), record_of(NAMES[::-1], 3)
    summary = summarize_comparison(one, other, ("a", "b"))
    texts = show(summary).locator("#overlap-curve .drawing svg text").all_text_contents()
    assert {f"{k}" for k in (1, 2, 3, 5, 10, 20, 30)} <= set(texts)


def meet(one: dict, other: dict) -> bool:
    return all(
        one[low] < other[high] and other[low] < one[high] for low, high in (("left", "right"), ("top", "bottom"))
    )


def test_a_legend_is_drawn_as_the_marks_are(show):
    page = show(comparison())
    shapes = page.locator("#rank-shifts .swatches path").evaluate_all("all => all.map((one) => one.getAttribute('d'))")
    assert len(set(shapes)) == 4
    dashes = (
        show(judged())
        .locator("#quality-0 .swatches line")
        .evaluate_all("all => all.map((one) => one.getAttribute('stroke-dasharray'))")
    )
    assert len(set(dashes)) == 4


def test_where_a_browser_cannot_unpack_the_page_it_says_so(chromium, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(render_page(whole(), beside="summary.json"), encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(file.as_uri())
    page.locator("#undrawn").wait_for()
    said = page.locator("#undrawn").text_content()
    assert "DecompressionStream is not defined" in said
    assert "Everything is in summary.json beside this page." in said
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pictures_of_every_page_are_taken_to_look_at(show, tmp_path, width, scheme):
    folder = Path(os.environ.get(SHOTS) or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    for make in (whole, comparison, judged):
        page = show(make(), width=WIDTHS[width], scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
        picture = page.screenshot(path=folder / f"{make.__name__}-{width}-{scheme}.png", full_page=True)
        assert picture.startswith(b"\x89PNG")


def test_twenty_thousand_features_open_and_filter_without_freezing(show):
    """By the time that the page's own thread computes: how busy the machine is does not count."""
    names = [f"gene_{i:06d}" for i in range(20_000)]
    page = show(summarize(record_of(names, 200)))
    clock = page.context.new_cdp_session(page)
    clock.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds_for(do) -> float:
        before = busy()
        do()
        return busy() - before

    def busy() -> float:
        return next(
            one["value"] for one in clock.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration"
        )

    page.get_by_label("all", exact=True).check()
    assert page.locator("#shown").text_content() == "1 to 100 of 20,000"
    search = page.get_by_role("searchbox")
    spent = {words: seconds_for(lambda words=words: search.fill(words)) for words in ("g", "gene_0199", "x", "")}
    spent["sorted"] = seconds_for(page.get_by_role("button", name="Relevance").click)
    assert names_shown(page) != names[:100]
    assert max(spent.values()) < 1, spent
    assert busy() < 10  # all of it, from the start


def test_without_scripts_the_chosen_features_are_there(chromium, show, tmp_path):
    show(whole())
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page-0.html").as_uri())
    assert page.locator("noscript li").count() == 30
    assert "Scripts are off" in page.locator("main").text_content()
    context.close()
