"""Tables and figures of experiments: ours beside the published, in words where they differ."""

from pathlib import Path

import pytest

from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.experiment_file import read_experiment
from fedsieve.experiments.records import Records
from fedsieve.experiments.sensitivity import with_variants
from fedsieve.report import curves, sensitivity_page
from fedsieve.report.experiment_report import write_report
from fedsieve.report.metric_tables import published_values

PAPER = Path(__file__).parents[2] / "benchmarks" / "paper"
METHODS = (Contender("SSFMLFS", "SSFMLFS"), Contender("random", "random"), Contender("all features", "all features"))
DATASETS = ("cal500", "emotions", "yeast")
METRICS = ("average_precision", "coverage", "ranking_loss")


def experiment(kind, **changes):
    values = {
        "name": "t",
        "title": "The table",
        "kind": kind,
        "datasets": DATASETS,
        "contenders": METHODS,
        "seeds": (0, 1, 2),
    }
    return Experiment(**{**values, "evaluations": (Evaluation(),), **changes})


def records(experiment, rng):
    found = {}
    for m, contender in enumerate(experiment.contenders):
        for trial in experiment.trials(contender):
            values = {"average_precision": 0.5 + 0.1 * m, "coverage": 9.0 - m, "ranking_loss": 0.3 - 0.1 * m}
            noise = 1 + 1e-3 * rng.random()
            measured = {name: value * noise for name, value in values.items()}
            found[trial.key()] = {
                "metrics": {evaluation.name: measured for evaluation in experiment.evaluations},
                "rows": {"clients": [10, 20], "server": 5, "test": 7},
                "k": 3,
                "client_bytes": {"client-0": 500, "client-1": 700},
            }
    return found


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    names = ("table2_average_precision", "table3_coverage", "table4_ranking_loss")
    for name, value in zip(names, (0.9, 1.5, 0.05), strict=True):
        (folder / f"{name}.csv").write_text(f"method,cal500,emotions,yeast\nSSFMLFS,{value},{value},{value}\n")
    return folder


def test_metric_tables_show_ours_beside_the_published_and_say_where_they_differ(tmp_path, published, rng):
    case = experiment("metrics")
    files = write_report(case, records(case, rng), tmp_path, published)
    assert files == [tmp_path / "t.md", tmp_path / "t-ranks-scaled.png"]
    text = (tmp_path / "t.md").read_text()
    assert "| SSFMLFS | 20% | 0.50" in text
    assert "[0.9]" in text
    assert "| random | 0% | 0.60" in text
    assert "SSFMLFS, scaled: worse than random features on 9 of 9 comparisons" in text
    assert "SSFMLFS, yeast, scaled, average precision: ours 0.50" in text
    assert "is worse than the published 0.9" in text
    assert "Friedman p" in text
    assert (tmp_path / "t-ranks-scaled.png").read_bytes().startswith(b"\x89PNG")


def test_several_classifiers_have_tables_and_figures_of_their_own(tmp_path, published, rng):
    case = experiment("metrics", evaluations=(Evaluation(), Evaluation("logistic")))
    files = write_report(case, records(case, rng), tmp_path, published)
    names = ["t.md", "t-ranks-ML-kNN-scaled.png", "t-ranks-logistic-scaled.png"]
    assert [file.name for file in files] == names
    text = (tmp_path / "t.md").read_text()
    assert "## Coverage ↓, ML-kNN, scaled features" in text
    assert "## Coverage ↓, logistic, scaled features" in text
    assert "SSFMLFS, logistic, scaled: worse than random features on 9 of 9 comparisons" in text


def test_a_supervised_method_may_see_the_server_s_labels_only(tmp_path, published, rng):
    twice = (Contender("BMFS", "BMFS"), Contender("BMFS", "BMFS, few labels", labels="server"))
    case = experiment("metrics", contenders=(*METHODS, *twice))
    write_report(case, records(case, rng), tmp_path, published)
    text = (tmp_path / "t.md").read_text()
    assert text.count("| BMFS | 100% | 0.80") == 1
    assert text.count("| BMFS, few labels | 20% | 0.90") == 1


def test_a_cell_without_records_is_a_dash(tmp_path, published, rng):
    case = experiment("metrics")
    some = dict(list(records(case, rng).items())[:3])
    write_report(case, some, tmp_path, published)
    assert "| random | 0% | - | - | - |" in (tmp_path / "t.md").read_text()


def test_curves_have_a_column_per_share_and_a_figure(tmp_path, rng):
    case = experiment("curves", labeled=(0.1, 0.4))
    files = write_report(case, records(case, rng), tmp_path, tmp_path / "none")
    assert files == [tmp_path / "t.md", tmp_path / "t-scaled.png"]
    text = (tmp_path / "t.md").read_text()
    assert "| dataset | method | 10% | 40% |" in text
    assert text.count("| yeast | SSFMLFS |") == 3
    assert "## Coverage ↓, scaled features" in text


def test_curves_against_the_number_of_features(tmp_path, rng):
    k = dict.fromkeys(DATASETS, 20)
    case = experiment("curves", contenders=(*METHODS, Contender("CSFS", "CSFS")), k=k, k_levels=(1.0, 0.25))
    write_report(case, records(case, rng), tmp_path, tmp_path / "none")
    text = (tmp_path / "t.md").read_text()
    assert "| dataset | method | 100% | 25% |" in text
    assert "of 6 comparisons (dataset and number of features)" in text
    assert "| yeast | random | - |" not in text


def test_communication_counts_the_formula_and_what_clients_sent(tmp_path, rng):
    wires = tuple(Contender("SSFMLFS", wire, (("wire", wire),)) for wire in ("statistics", "vectors"))
    case = experiment("communication", datasets=("digits",), contenders=wires, seeds=(0,))
    write_report(case, records(case, rng), tmp_path, tmp_path / "none")
    printed, real = [2 * 1797 * width * 4 for width in (64, 3)], [30 * width * 4 for width in (64, 3)]
    added = [real[1] + own for own in (1200, 1200, 8 * 64 * (100 + 400))]
    text = (tmp_path / "t.md").read_text()
    assert cells_of(text, "digits") == [f"{value / 1e6:,.2f}" for value in [*printed, *real, *added]]
    assert "with `statistics`, selecting and then sending the selected features is cheaper" in text
    assert "on 1 of 1 datasets: digits." in text
    assert "with `matrices`" in text
    assert "on 0 of 1 datasets." in text


def test_distances_weigh_the_clients(tmp_path, rng):
    wires = (Contender("SSFMLFS", "statistics", (("wire", "statistics"),)),)
    case = experiment("communication", datasets=("digits",), contenders=wires, seeds=(0,), distances=(1.0, 1000.0))
    write_report(case, records(case, rng), tmp_path, tmp_path / "none")
    held = 10 + 1000 * 20
    expected = [1001 * 1797 * 64 * 4, 1001 * 1797 * 3 * 4, held * 64 * 4, held * 3 * 4]
    expected += [held * 3 * 4 + 500 + 1000 * 700, held * 3 * 4 + 8 * 64 * (100 + 1000 * 400)]
    text = (tmp_path / "t.md").read_text()
    assert cells_of(text, "digits") == [f"{value / 1e6:,.2f}" for value in expected]
    wrong = experiment("communication", datasets=("digits",), contenders=wires, seeds=(0,), distances=(1.0,))
    with pytest.raises(ParameterError, match="1 distances for 2 clients"):
        write_report(wrong, records(wrong, rng), tmp_path, tmp_path / "none")


def cells_of(text, dataset):
    row = next(line for line in text.splitlines() if line.startswith(f"| {dataset} |"))
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_published_values_are_read_by_metric_method_and_dataset(published):
    assert published_values(published)["coverage", "SSFMLFS", "yeast"] == 1.5
    federated = "method,average_precision,coverage,ranking_loss\nFMLFS,0.7534,6.4199,0.1732\n"
    (published / "table7_yeast_federated.csv").write_text(federated)
    assert published_values(published)["ranking_loss", "FMLFS", "yeast"] == 0.1732


def test_a_reconstruction_says_so_and_an_unidentified_method_keeps_its_published_row(tmp_path, published, rng):
    for file in published.glob("*.csv"):
        file.write_text(file.read_text() + "MFSDNA,0.4,0.6,0.7\n")
    case = experiment("metrics", contenders=(*METHODS, Contender("RFNMIFS", "RFNMIFS"), Contender("BMFS", "BMFS")))
    write_report(case, records(case, rng), tmp_path, published)
    text = (tmp_path / "t.md").read_text()
    assert text.count("| RFNMIFS (our reading) | 100% | ") == 3
    assert text.count("| BMFS | 100% | ") == 3
    assert text.count("| MFSDNA (not identified) | - | - [0.4] | - [0.6] | - [0.7] |") == 3


def test_published_relations_are_counted_beside_ours(tmp_path, published, rng):
    # As published SSFMLFS is better than BMFS on two of three datasets, in each metric; here it is worse everywhere.
    better = {
        "table2_average_precision": (0.8, 0.95),
        "table3_coverage": (2.0, 1.0),
        "table4_ranking_loss": (0.1, 0.01),
    }
    for name, (worse, best) in better.items():
        file = published / f"{name}.csv"
        file.write_text(file.read_text() + f"BMFS,{worse},{worse},{best}\n")
    case = experiment("metrics", contenders=(*METHODS, Contender("BMFS", "BMFS")))
    write_report(case, records(case, rng), tmp_path, published)
    text = (tmp_path / "t.md").read_text()
    assert "| BMFS | 0 | 0 | 9 | 6 of 9 |" in text
    assert "| random | 0 | 0 | 9 | - |" in text
    assert "Of 9 published orders of two methods (a dataset and a metric each), 3 hold in our means" in text


def test_each_reading_of_the_paper_s_method_is_counted_against_chance_and_the_published(tmp_path, published, rng):
    for file in published.glob("*.csv"):
        file.write_text(file.read_text() + "BMFS,0.4,0.6,0.7\nMGFS,0.4,0.6,0.7\n")
    # `records` makes each row better than those before it.
    rows = [Contender(name, name) for name in ("SSFMLFS", "BMFS", "random", "FSNM", "MGFS")]
    rows.insert(4, Contender("SSFMLFS", "SSFMLFS, soft", (("decisions", "soft"),)))
    rows.append(Contender("MGFS", "MGFS, other", (("other", True),)))
    case = experiment("metrics", contenders=tuple(rows))
    write_report(case, records(case, rng), tmp_path, published)
    text = (tmp_path / "t.md").read_text()
    assert "| reading | than random features | than the 2 published rivals together |" in text  # a variant is none
    assert "| SSFMLFS | 0, 0, 9 | 0, 0, 18 |" in text
    assert "| SSFMLFS, soft | 9, 0, 0 | 9, 0, 9 |" in text
    assert "| MGFS, other | 0 | 0 | 9 | " in text  # but it is compared, beside what is published of its method
    assert text.count("| SSFMLFS, soft | 0 |") == 0


def test_curves_may_show_some_metrics_only(tmp_path, rng):
    another = (*METHODS, Contender("CSFS", "CSFS"))
    for methods, competing in ((METHODS, []), (another, ["## Who is best, scaled features"])):
        case = experiment("curves", contenders=methods, labeled=(0.1, 0.4), metrics=("coverage",))
        write_report(case, records(case, rng), tmp_path, tmp_path / "none")
        text = (tmp_path / "t.md").read_text()
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        assert headings == [*competing, "## Coverage ↓, scaled features"]  # who is best among one is no question
    assert "| method | coverage |" in text


def test_figures_name_datasets_and_what_is_varied(tmp_path, rng, monkeypatch):
    drawn = []
    for module in (curves, sensitivity_page):
        monkeypatch.setattr(module, "save", lambda figure, *_, **__: drawn.append(figure))
    case = experiment("curves", labeled=(0.1, 0.4), metrics=("coverage", "ranking_loss"))
    write_report(case, records(case, rng), tmp_path, tmp_path / "none")
    factors = (("lam", (0.4, 1.2)), ("damping", (0.5, 0.85, 0.95)))
    varied = with_variants(experiment("sensitivity", factors=factors, crossed=(("damping", "lam"),)))
    write_report(varied, records(varied, rng), tmp_path, tmp_path / "none")
    for figure, n_rows in zip(drawn, (2, 3), strict=True):
        assert [axes.get_title() for axes in figure.axes] == [*DATASETS, *[""] * 3 * (n_rows - 1)]
    assert [axes.get_xlabel() for axes in drawn[0].axes] == [*[""] * 3, *["labeled rows, %"] * 3]
    assert [axes.get_ylabel() for axes in drawn[1].axes[::3]] == ["lam", "damping", "damping"]
    assert [len(axes.containers) for axes in drawn[1].axes[::3]] == [1, 1, 2]  # a line for each lam
    legend = drawn[1].axes[-1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0.4", "1.2"]


def test_wins_are_counted_over_datasets_and_shares(tmp_path, published, rng):
    methods = (*METHODS, Contender("SCFC", "SCFC"), Contender("CSFS", "CSFS"))
    case = experiment("curves", contenders=methods, labeled=(0.1, 0.4))
    write_report(case, records(case, rng), tmp_path, published)
    text = (tmp_path / "t.md").read_text()
    assert "in so many of 6 comparisons" in text
    assert "| CSFS | 6 (0, 6) | 6 (0, 6) | 6 (0, 6) |" in text
    assert "| SCFC (our reading) | 0 (0, 6) | 0 (0, 6) | 0 (0, 6) |" in text
    assert "| SSFMLFS | 0 | 0 | 0 |" in text
    assert "| random | 0 (" not in text


@pytest.mark.parametrize(
    "name",
    [
        "table_7",
        "org_on_emotions",
        "lambda_on_yeast",
        *(
            pytest.param(name, marks=pytest.mark.full)
            for name in ("tables_2_3_4", "figure_2", "figure_2_as_drawn", "sensitivity", "sensitivity_crossed")
        ),
    ],
)
def test_the_committed_tables_are_those_of_the_committed_records(tmp_path, name):
    found = Records(PAPER / "results" / "records.jsonl").read()
    write_report(read_experiment(PAPER / f"{name}.toml"), found, tmp_path, PAPER / "published")
    committed = (PAPER / "results" / f"{name}.md").read_text(encoding="utf-8")
    assert (tmp_path / f"{name}.md").read_text(encoding="utf-8") == committed
