"""The documentation site: what is generated for it, and that every page is in it."""

import re

import click
import pytest
from docs.site import api, errors
from docs.site.commands import page
from docs.site.links import as_on_the_site, broken_links, without_title
from docs.site.parts import parts

from documented_commands import ROOT
from fedsieve import fuzzy
from fedsieve.cli.app import every_command

INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_every_parameter_of_the_interface_is_described():
    assert api.undescribed() == []


def test_a_parameter_that_nobody_describes_would_be_noticed():
    def function(mystery: int = 3) -> None:
        """Does something."""

    ((name, kind, default, meaning),) = api.parameters(function, ["Does something."])
    assert (name, kind, default, meaning) == ("mystery", "int", "`3`", "")
    assert api.parameters(function, ["A `mystery` of old; more."])[0][3] == "A `mystery` of old"


def test_every_public_name_has_an_entry():
    import fedsieve

    listed = {name.split(".")[0] for _, names in api.PARTS.values() for name in names}
    modules = {"FMLFS", "FedCMFS", "__version__"}  # the first two are rivals
    assert set(fedsieve.__all__) - modules <= listed


def test_tables_have_a_row_for_every_parameter():
    text = api.pages()["selectors"]
    for name in ("n_features_to_select", "groups", "epsilon", "wire", "damping"):
        assert f"| `{name}` |" in text
    assert "| `stability_` |" in text


def test_every_command_and_option_is_on_the_page():
    text = page()
    for path, command in every_command():
        assert f"\n## {path}\n" in text
        entry = text.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert all(f"`{name}`" in entry for name in parameter.opts), (path, parameter.name)
    assert "`--min-clients`" in text
    assert "\n## fedsieve federation approve-rows\n" in text


def test_error_messages_are_those_of_the_code():
    text = errors.page()
    assert "SSFMLFS" not in text.partition("## ")[0]
    assert "`{subject} must be one of {choices}; got {…}.`" in text
    assert len(re.findall(r"^- ", text, re.MULTILINE)) > 300


@pytest.mark.parametrize("equation", range(1, 14))
def test_every_equation_is_linked_to_its_function(equation):
    method = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {equation} \|.*src/fedsieve/fuzzy.*$", method, re.MULTILINE)
    named = re.findall(r"\[`fuzzy\.(\w+)`\]\(\.\./src/fedsieve/fuzzy/(\w+)\.py\)", row)
    assert named
    for name, file in named:
        function = getattr(fuzzy, name)
        assert f"Equation {equation}" in function.__doc__
        assert function.__module__ == f"fedsieve.fuzzy.{file}"
        assert api.where(f"fuzzy.{name}")


def test_every_page_is_in_the_site():
    trees = "\n".join(re.findall(r"```\{toctree\}.*?```", INDEX, re.DOTALL))
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"]
    for path in pages:
        assert re.search(rf"^{path.stem}$", trees, re.MULTILINE), path.name


def test_the_menu_has_the_four_parts_and_each_part_its_pages():
    index, pages = parts(INDEX)
    assert list(pages) == ["tutorial", "how-to", "explanation", "reference"]
    assert re.findall(r"```\{toctree\}\n:hidden:\n\n(.*?)```", index, re.DOTALL) == [
        "parts/tutorial\nparts/how-to\nparts/explanation\nparts/reference\n"
    ]
    assert index.startswith(INDEX.partition("```")[0].rstrip())
    assert pages["tutorial"].startswith("# Tutorial\n\n```{toctree}\n:maxdepth: 1\n\n../tutorial\n../install\n")
    told = [entry for page in pages.values() for entry in re.findall(r"^\.\./(.+)$", page, re.MULTILINE)]
    assert told == re.findall(r"^[\w./*-]+$", "".join(re.findall(r"(?<=\n\n)[^`]+(?=```)", INDEX)), re.MULTILINE)
    assert ":hidden:" not in "".join(pages.values())
    assert ":glob:" in pages["reference"]


def test_a_list_without_a_caption_is_refused():
    with pytest.raises(ValueError, match="has no caption"):
        parts("```{toctree}\n:hidden:\n\na\n```\n")


def test_the_gallery_begins_with_the_page_that_is_written_for_it():
    """Sphinx-Gallery takes the first file by ending and then by name: .txt comes before .md, whatever the name."""
    assert (ROOT / "examples" / "GALLERY_HEADER.txt").read_text(encoding="utf-8").startswith("Gallery\n=======\n")


def test_pages_without_a_title_are_found(tmp_path):
    (tmp_path / "good.html").write_text("<title>How &lt;no title&gt; is found</title>", encoding="utf-8")
    (tmp_path / "bad.html").write_text("<title>&lt;no title&gt; &#8212; FedSieve</title>", encoding="utf-8")
    assert without_title(tmp_path) == ["bad.html"]


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "other.html").write_text("<h1 id='here'>x</h1>", encoding="utf-8")
    links = ("other.html#here", "other.html#there", "lost.html", "https://example.org/lost", "#own", "other.html")
    text = "<p id='own'>" + "".join(f"<a href='{link}'>x</a>" for link in links)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    assert broken_links(tmp_path) == ["page.html: lost.html", "page.html: other.html#there"]


def test_links_for_language_models_lead_somewhere():
    told = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert told.startswith("# FedSieve\n\n> ")
    links = re.findall(r"\]\(([^)]+)\)", told)
    assert len(links) > 10
    assert all((ROOT / link).is_file() for link in links)


def test_on_the_site_they_lead_to_its_pages(tmp_path):
    told = (ROOT / "llms.txt").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", told):
        page = tmp_path / link.replace(".md", ".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<h1>x</h1>", encoding="utf-8")
    (tmp_path / "llms.txt").write_text(told, encoding="utf-8")
    assert "llms.txt: docs/tutorial.md" in broken_links(tmp_path)
    (tmp_path / "llms.txt").write_text(as_on_the_site(told), encoding="utf-8")
    assert broken_links(tmp_path) == []
