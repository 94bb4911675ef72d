"""Of whom a site's secure sums have told totals, and why it is in no sum whose total would tell of single sites.

Kept in the ledger. A site knows of the runs that it took part in, and of no others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fedsieve.deployment.answered_rows import DAMAGED, damaged
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import listed
from fedsieve.files import held_file
from fedsieve.measures.told_together import TooManyError, newly_told
from fedsieve.reading import read_json

TOLD, APPROVED = "cohorts.json", "approved-cohorts.json"


class ToldCohort(NamedTuple):
    """A total that was told in a run: over which sites, with which rows of this site (a keyed digest), of what."""

    run: str
    sites: tuple[str, ...]
    rows: str
    of: str


@dataclass(frozen=True)
class ToldCohorts:
    """The cohorts in a site's ledger."""

    path: Path

    def told(self) -> list[ToldCohort]:
        """All totals, oldest first."""
        found = []
        for entry in self._read(TOLD):
            fields = entry if isinstance(entry, dict) else {}
            texts, sites = [fields.get(name) for name in ("run", "rows", "of")], fields.get("sites")
            if not all(isinstance(text, str) for text in texts) or not isinstance(sites, list):
                raise damaged(self.path / TOLD)
            found.append(ToldCohort(fields["run"], tuple(sites), fields["rows"], fields["of"]))
        return found

    def keep(self, told: ToldCohort) -> None:
        """Remember one more."""
        told = told._replace(sites=tuple(sorted(told.sites)))
        make_private(self.path)
        with held_file(self.path / "lock"):
            known = self.told()
            if told not in known:
                entries = [{**one._asdict(), "sites": list(one.sites)} for one in (*known, told)]
                write_json(self.path / TOLD, {"cohorts": entries}, mode=PRIVATE)

    def approved(self) -> list[list[str]]:
        """Cohorts that this site approved, whatever adding and subtracting would tell."""
        cohorts = self._read(APPROVED)
        if not all(isinstance(sites, list) for sites in cohorts):
            raise damaged(self.path / APPROVED)
        return cohorts

    def approve(self, sites: Iterable[str]) -> None:
        """Approve one more."""
        make_private(self.path)
        with held_file(self.path / "lock"):
            write_json(self.path / APPROVED, {"cohorts": [*self.approved(), sorted(sites)]}, mode=PRIVATE)

    def why_too_alike(
        self, run: str, sites: Iterable[str], rows: str, min_difference_sites: int, *, below: bool = False
    ) -> str:
        """Why totals over these sites, with those of earlier runs over the same rows, would tell of single sites.

        `below`: they are an edge server's own, which decides for them.
        """
        asked = sorted(sites)
        if min_difference_sites <= 1 or asked in self.approved():
            return ""
        way_out = (
            f"its policy asks for {min_difference_sites} sites or none (min_difference_sites). Wait for all sites of "
            f"then, or approve it at {'the edge server' if below else 'each site'}: fedsieve federation approve-cohort "
            f"FOLDER --sites {','.join(asked)}{' --below FED' * below}"
        )
        # Within a run, sites see to it themselves.
        earlier = [one for one in self.told() if one.run != run and one.rows == rows]
        try:
            alone = self.told_alone(earlier, asked, min_difference_sites - 1)
        except TooManyError:
            return f"there are too many earlier totals to see of whom they tell together with this one; {way_out}"
        if not alone:
            return ""
        runs = sorted({one.run for one in earlier})
        return (
            f"with the totals of earlier runs ({listed(runs)}), totals over these sites give the sums of "
            f"{listed(alone)} alone, by subtraction; {way_out}"
        )

    @staticmethod
    def told_alone(earlier: list[ToldCohort], sites: Iterable[str], most: int) -> tuple[str, ...]:
        """Up to so many sites whose own sums would follow from one more total, and do not yet; empty where none do.

        Totals of one thing are taken together, and then all totals whatever they tell of: a site that was lost in the
        middle of a run is in totals of one thing and not of another.
        """
        added = set(sites)
        kinds = sorted({one.of for one in earlier})
        of_one_thing = [{one.sites for one in earlier if one.of == kind} for kind in kinds]
        for cohorts in (*of_one_thing, {one.sites for one in earlier}):
            alone = newly_told(sorted(cohorts), added, most)
            if alone:
                return alone
        return ()

    def _read(self, name: str) -> list[Any]:
        file = self.path / name
        if not file.is_file():
            return []
        content = read_json(file, way_out=DAMAGED)
        if not isinstance(content, dict) or not isinstance(content.get("cohorts"), list):
            raise damaged(file)
        return list(content["cohorts"])
