"""What a run would cost, before it runs: rounds, bytes, seconds and memory of each form that it could take.

`wire="auto"` takes the form that is done first by this model, and a site the way to multiply. The constants are usual
ones, not this machine's: a round on an engine whose sites wait for it, a server's line of 100 Mbit/s, one thread. An
agreement must fix the form before anybody knows a site's rows, so it goes by ten sites of 200 rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fedsieve import kernels
from fedsieve.kernels import costs

ROUND_SECONDS = 1.5  # until the slowest site was reached and has answered, besides computing
BYTES_PER_SECOND = 12.5e6  # of the server's line, which all sites share
USUAL_SITES, USUAL_ROWS = 10, 200
NUMBER = 8  # bytes
RELATED = 5.0  # nanoseconds per entry of a relation matrix
SUMMED = 0.1  # per row and pair of columns of a covariance
READ = 5.0  # per value that is read, checked and scaled
BINS = 64  # of a column's histogram, about
FEW_ROUNDS = 12  # columns from which on PageRank takes no more products than the model says; 5 or 6 of hundreds


@dataclass(frozen=True)
class FormCost:
    """One way to run a method: of the largest site, one thread and what it holds beside its rows; and of the server."""

    form: str
    how: str  # the site's way to compute it
    n_rounds: int
    n_bytes: int  # per site, to and fro
    seconds: float
    site_bytes: int
    server_bytes: int
    n_sites: int
    why_not: str = ""
    about: str = ""  # how the rounds are meant, where nobody can count them beforehand

    @property
    def done_after(self) -> float:
        """Seconds from the first question to the last answer, by the model."""
        return self.n_rounds * ROUND_SECONDS + self.n_sites * self.n_bytes / BYTES_PER_SECOND + self.seconds


@dataclass(frozen=True)
class FederationSize:
    """As far as costs go: its sites, the rows of the largest, the columns, and how many of these have many values.

    And whether values are missing, anywhere and in the server's rows (`None` where nobody looked), and the most rows
    that a site relates to each other (`None`: all; one whose table is streamed draws some).
    """

    n_sites: int
    n_rows: int
    n_features: int
    n_compared: int
    has_gaps: bool | None = None
    labeled_gaps: bool = False
    n_related: int | None = None


def first_done(forms: list[FormCost]) -> FormCost:
    """The form that is done first, of those that can be had; the first of them where all take the same."""
    return min((form for form in forms if not form.why_not), key=lambda form: form.done_after)


def graph_forms(federation: FederationSize, max_pairs: int, reasons: Mapping[str, str] | None = None) -> list[FormCost]:
    """SSFMLFS's three wire forms; `reasons` tell of some why they cannot be had."""
    d, n_sites = federation.n_features, federation.n_sites
    n = federation.n_rows if federation.n_related is None else federation.n_related
    shape = costs.Shape(n, d, max_pairs, federation.n_compared)
    sums, rows = costs.from_sums(shape), costs.from_rows(shape)
    small = d <= costs.ALWAYS_SUMS
    by_sums = small or (sums.n_bytes <= costs.MOST_SUMS and sums.seconds <= rows.seconds)
    product, how = (sums, "pair sums, kept") if by_sums else (rows, "from the rows")
    relation = 6 * d * NUMBER  # ranges, moments and radius, told once
    steps = costs.N_PRODUCTS
    pairs = f"{kernels.pairs_looked_at(n, max_pairs):,} of {kernels.all_pairs(federation.n_rows):,} row pairs"
    matrix = d * n * n * NUMBER
    not_told = reasons or {}
    return [
        FormCost(
            "statistics",
            f"pair sums, {pairs}",
            1,
            relation + d * (d + 1) // 2 * NUMBER,
            sums.seconds,
            sums.n_bytes,
            40 * d * d,
            n_sites,
            not_told.get("statistics", ""),
        ),
        FormCost(
            "vectors",
            f"{how}, {pairs}",
            steps,
            relation + steps * 4 * d * NUMBER,
            product.seconds,
            product.n_bytes,
            (n_sites + 4) * d * NUMBER,
            n_sites,
            not_told.get("vectors", ""),
            about="at most about" if d >= FEW_ROUNDS else "at least about",
        ),
        FormCost(
            "matrices",
            f"relations, all pairs of {n:,} rows",
            1,
            relation + matrix,
            RELATED * 1e-9 * d * n * n,
            matrix,
            matrix + 40 * d * d,
            n_sites,
            not_told.get("matrices", "tells the rows themselves; only where it is asked for"),
        ),
    ]


def covariance_forms(
    federation: FederationSize, most: int, *, asks_ranges: bool, fills: bool, at_once: bool, noisy: bool = False
) -> list[FormCost]:
    """Sieve's one form: ranges, means where values are missing, projections of wide tables, covariances.

    In declared ranges nobody is asked for them: covariances come `at_once`, and that was all unless values are missing.
    With noise there is one answer.
    """
    n, d, gaps = federation.n_rows, federation.n_features, bool(federation.has_gaps)
    compared, wide = min(d, most), d > most
    at_once = at_once and not wide and not federation.labeled_gaps
    tells_gaps = asks_ranges or at_once  # else means are asked for in any case
    means = fills and (gaps or not tells_gaps)
    n_rounds = 1 if noisy else asks_ranges + at_once + means + wide + (gaps or not at_once)
    told = compared * (compared + 1) // 2 + d * (BINS * asks_ranges + 2 * means + 20 * wide)
    what = f"{compared:,} of {d:,} columns compared" if wide else f"all {d:,} columns compared"
    if federation.has_gaps is None and fills and tells_gaps:
        what += f"; {'two more rounds' if at_once else 'one more round'} where values are missing"
    return [
        FormCost(
            "covariances",
            what,
            n_rounds,
            (told + 4 * d * n_rounds) * NUMBER,
            1e-9 * (SUMMED * n * compared**2 + READ * n * d * n_rounds),
            3 * compared**2 * NUMBER,
            5 * compared**2 * NUMBER,
            federation.n_sites,
        )
    ]
