"""A result as the plain values and words that its report shows: everything, and nothing that the page would compute."""

from collections.abc import Mapping
from typing import Any

from fedsieve.experiments.two_selections import compare_selections
from fedsieve.report.sections.alike import alike_section
from fedsieve.report.sections.changes import changes_section
from fedsieve.report.sections.features import (
    certainty_section,
    features_section,
    no_better_than_chance,
    plain,
    scores_section,
)
from fedsieve.report.sections.federation import federation_section, shift_section
from fedsieve.report.sections.labels import labels_section
from fedsieve.report.sections.privacy import privacy_section
from fedsieve.report.sections.provenance import named_values, provenance_section
from fedsieve.report.sections.quality import conclusion_of, quality_section, shares_section, sizes_section
from fedsieve.text import plural, size, visible

FORMAT = "fedsieve-report/1"
MOST_NAMED = 3  # columns in a note
STABLE = 0.9  # share of bootstraps from which a feature counts as chosen nearly always


def summarize(
    record: Mapping[str, Any], evaluation: Mapping[str, Any] | None = None, audit: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The summary of one selection, with what `evaluate` and `audit` found where their files lie beside it."""
    federation = federation_section(record)
    return {
        "format": FORMAT,
        "kind": "selection",
        "title": f"Feature selection by {visible(record['method'])}",
        "answer": _answer(record, federation),
        "figures": _figures(record, federation),
        "notes": _notes(record),
        "features": features_section(record),
        "scores": scores_section(record),
        "certainty": certainty_section(record),
        "labels": labels_section(record),
        "sizes": sizes_section(record),
        "alike": alike_section(record),
        "quality": quality_section(evaluation, record),
        "federation": federation,
        "shift": shift_section(record),
        "privacy": privacy_section(record, audit),
        "provenance": provenance_section(record),
    }


def summarize_evaluation(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of what `evaluate` found, where no selection lies beside it."""
    quality = quality_section(evaluation)
    assert quality is not None
    conclusion = conclusion_of(evaluation)
    own = [row for row in evaluation["summary"] if row["own"] and row["method"] == evaluation["method"]]
    n_folds = evaluation["n_folds"] * evaluation["n_repeats"]
    return {
        "format": FORMAT,
        "kind": "evaluation",
        "title": f"Evaluation of {quality['method']}",
        "answer": quality["words"][conclusion],
        "figures": [
            {
                "value": f"{plain(own[0]['n_features']):,}",
                "label": f"of {_many(evaluation['n_features'], 'feature')} kept",
            },
            *(
                {"value": f"{row['mean']:.3f}", "label": f"average precision by {visible(row['classifier'])}"}
                for row in own
                if row["metric"] == "average_precision"
            ),
            {
                "value": f"{evaluation['n_rows']:,}",
                "label": f"{plural(evaluation['n_rows'], 'labeled row')} with {_many(evaluation['n_labels'], 'label')}",
            },
            {"value": f"{n_folds:,}", "label": "folds, with a fresh selection in each"},
        ],
        "notes": quality["words"][conclusion + 1 :],
        "quality": {**quality, "words": quality["words"][:conclusion]},
        "features": shares_section(evaluation),
        "provenance": {
            "command": visible(evaluation["command"]) if evaluation.get("command") else None,
            "versions": named_values(evaluation["versions"]),
        },
    }


def summarize_comparison(first: Mapping[str, Any], second: Mapping[str, Any], names: tuple[str, str]) -> dict[str, Any]:
    """The summary of two selections beside each other; `names` say which is which."""
    found = compare_selections(first, second)
    shown = [visible(name) for name in names]
    n_first, n_second = found["n_selected"]
    return {
        "format": FORMAT,
        "kind": "comparison",
        "title": f"{shown[0]} and {shown[1]}",
        "answer": (
            f"The first selection chooses {n_first:,} {plural(n_first, 'feature')}, the second {n_second:,}; "
            f"{found['overlap']:,} {'is' if found['overlap'] == 1 else 'are'} in both, where chance would give "
            f"{found['overlap_by_chance']:.1f}."
        ),
        "figures": [
            {"value": f"{found['overlap']:,}", "label": f"{plural(found['overlap'], 'feature')} in both"},
            {"value": _share(found["jaccard"]), "label": "of all chosen are in both (Jaccard)"},
            {"value": f"{len(found['entered']):,}", "label": "entered"},
            {"value": f"{len(found['left']):,}", "label": "left"},
            {"value": _two(found["spearman"]), "label": "agreement of all ranks (Spearman)"},
        ],
        "notes": [],
        "changes": changes_section(found, first, second, names),
    }


def _answer(record: Mapping[str, Any], federation: Mapping[str, Any]) -> str:
    """The whole result in one sentence."""
    k, n = len(record["selected"]), len(record["order"])
    rows = []
    if federation["n_labeled"]:
        rows.append(_many(federation["n_labeled"], "labeled row"))
    sites = _many(federation["n_took_part"], "site")
    rows.append(f"{_many(federation['n_rows'], 'unlabeled row')} of {sites}" if federation["n_rows"] else sites)
    low = no_better_than_chance(record)
    worth = "" if low is None or not k else f"; {_how_many(k - len(low), k)} better than chance"
    chose = f"{k:,}" if k else "none"
    return f"{visible(record['method'])} chose {chose} of {_many(n, 'feature')} from {' and '.join(rows)}{worth}."


def _how_many(number: int, k: int) -> str:
    """How many of the chosen features score; the total says that neither rows nor sites are meant."""
    if k == 1:
        return "it scores" if number else "it scores no"
    if number == k:
        return "both score" if k == 2 else f"all {k:,} score"
    of_none = "neither" if k == 2 else f"none of the {k:,}"
    return f"{number:,} of the {k:,} {_score(number)}" if number else f"{of_none} scores"


def _figures(record: Mapping[str, Any], federation: Mapping[str, Any]) -> list[dict[str, str]]:
    """The few numbers to see first."""
    figures = [
        {"value": f"{len(record['selected']):,}", "label": f"of {_many(len(record['order']), 'feature')} chosen"},
        {"value": f"{federation['n_took_part']:,}", "label": _of_sites(federation)},
    ]
    if "stability" in record["columns"]:
        known = [record["stability"][name] for name in record["selected"]]
        if any(value is not None for value in known):
            stable = sum(value is not None and value >= STABLE for value in known)
            figures.append({"value": f"{stable:,}", "label": f"chosen in {100 * STABLE:.0f} % of bootstraps or more"})
    figures.append({"value": size(federation["bytes_sent"]), "label": "left all sites together"})
    if federation["seconds"] is not None:
        figures.append({"value": f"{federation['seconds']:,.3g} s", "label": _in_rounds(federation)})
    else:
        figures.append({"value": f"{federation['n_rounds']:,}", "label": plural(federation["n_rounds"], "round")})
    return figures


def _notes(record: Mapping[str, Any]) -> list[str]:
    """What a reader should know before trusting the answer."""
    notes = []
    low = no_better_than_chance(record)
    if low:
        which = ", ".join(visible(name)[:60] for name in low[:5]) + (" and more" if len(low) > 5 else "")
        notes.append(f"{_many(len(low), 'chosen feature')} {_score(len(low))} no better than chance: {which}.")
    rate = record.get("fdr")
    if rate is not None:
        notes += [_sentence(visible(str(words))) for words in (rate["words"], *rate["doubts"])]
    dropped = record["dropped"]
    if dropped:
        notes.append(f"{_many(len(dropped), 'site')} did not take part to the end; see the federation below.")
    shift = record.get("shift") or {}
    found = [(one["column"], party) for party, told in shift.items() for one in told["findings"]]
    if found:
        look = "looks" if len(found) == 1 else "look"
        which = ", ".join(f"{visible(column)[:60]} of {visible(party)[:60]}" for column, party in found[:MOST_NAMED])
        more = " and more" if len(found) > MOST_NAMED else ""
        notes.append(f"{_many(len(found), 'column')} of single sites {look} wrong: {which}{more}; see below.")
    if record.get("reranked_from") is not None:
        notes.append(
            f"Chosen again from the totals of a run that selected {record['reranked_from']:,}; no site was asked."
        )
    return notes


def _sentence(words: str) -> str:
    """What follows the name of a method in a warning, by itself."""
    return words[:1].upper() + words[1:]


def _many(number: int, noun: str) -> str:
    return f"{number:,} {plural(number, noun)}"


def _score(number: int) -> str:
    return "scores" if number == 1 else "score"


def _of_sites(federation: Mapping[str, Any]) -> str:
    n_sites = federation["n_sites"]
    if n_sites != federation["n_took_part"]:
        return f"of {n_sites:,} {plural(n_sites, 'site')} took part"
    return f"{plural(n_sites, 'site')} took part"


def _in_rounds(federation: Mapping[str, Any]) -> str:
    return f"in {_many(federation['n_rounds'], 'round')}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
