"""Tables in Markdown of what was measured; nothing is computed here but means and counts."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

from benchmarks.rules.cost import EXACT, RANDOM
from fedsieve.privacy import SITE
from fedsieve.protocol.influence import ODD, TIMES, odd_sites

STEPS_OF_SHARE, STEPS_OF_TIMES = (0.1, 0.15, 0.2, 0.25, 0.3), (2, 3)
STEPS_OF_STRETCH = (1.15, 1.25, 1.4, 1.6, 2.0)
HARM = 0.15  # share of the selected features from which on a lie should be noticed

Records = Mapping[str, Sequence[Mapping[str, Any]]]


def cost_pages(records: Records) -> str:
    """Average precision by dataset and rule, with the paired difference to exact ranges in one process."""
    text = []
    for name, trials in records.items():
        rows = [size for trial in trials for size in trial["rows per site"]]
        held, constant = (
            mean(trial["held back per site"][what] for trial in trials) for what in ("share", "constant anyway")
        )
        first = trials[0]
        text.append(
            f"**{name}**: {first['columns']} columns, k = {first['k']}, {min(rows)} to {max(rows)} rows per site; held "
            f"back by min_cell: {held:.1%} of a site's columns ({constant:.1%} are constant there anyway).\n"
        )
        lines = []
        for method in ("Sieve", "SSFMLFS"):
            exact = [trial[method][EXACT]["AP"] for trial in trials]
            for rule in first[method]:
                lines.append([method, rule, *_cost([trial[method][rule] for trial in trials], exact)])
        lines.append(["", RANDOM, _spread([trial[RANDOM]["AP"] for trial in trials]), "", "", "", ""])
        text.append(
            _table(["method", "rules", "AP", "difference to exact", "same features", "sites", "refusal"], lines)
        )
    return "\n".join(text)


def _cost(found: Sequence[Mapping[str, Any]], exact: Sequence[float]) -> list[str]:
    pairs = [(one["AP"], usual) for one, usual in zip(found, exact, strict=True) if one["AP"] is not None]
    sites = sorted({one["sites"] for one in found if "sites" in one})
    refusal = next((one["refusal"] for one in found if one.get("refusal")), "")
    if not pairs:
        way_out = "use secure sums" if any(one["sites"] < SITE.min_cohort for one in found) else "see the refusal"
        return [f"no result: {way_out}", "", "", _between(sites), refusal]
    which = "" if len(pairs) == len(found) else f" ({len(pairs)} of {len(found)} seeds)"
    same = [one["same as exact"] for one in found if "same as exact" in one]
    return [
        _spread([one for one, _ in pairs]) + which,
        _spread([one - usual for one, usual in pairs], "+.4f"),
        f"{mean(same):.0%}" if same else "",
        _between(sites),
        refusal,
    ]


def lies_page(records: Records) -> str:
    """How far each lie moves the selected features, and how often the warning names the liar, or anybody else."""
    told: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for trials in records.values():
        for trial in trials:
            for how, entries in trial.items():
                for entry in entries if isinstance(entries, list) else ():
                    about = f" ({entry['column']} column)" if entry["column"] else ""
                    told.setdefault((how, entry["lie"] + about), []).append(entry)
    lines = []
    for (how, lie), entries in told.items():
        seen = [entry for entry in entries if "moved" in entry]
        if not seen:
            lines.append([how, lie, f"all {len(entries)} refused", "", "", "", "", ""])
            continue
        named = sum(entry["liar"] in odd_sites(entry["influence"]) for entry in seen)
        others = sum(bool(set(odd_sites(entry["influence"])) - {entry["liar"]}) for entry in seen)
        places = [entry["place"] for entry in seen if "place" in entry]
        place = f"{median(p[0] for p in places):.0f} -> {median(p[1] for p in places):.0f}" if places else ""
        stretch = [max(entry["stretch"][entry["liar"]].values()) for entry in seen]
        lines.append(
            [
                how,
                lie,
                f"{mean(entry['moved'] for entry in seen):.0%}",
                f"{max(entry['moved'] for entry in seen):.0%}",
                place,
                f"{named} of {len(seen)}",
                f"{others} of {len(seen)}",
                f"{min(min(stretch), 1e6):.3g} to {min(max(stretch), 1e6):.3g}",
            ]
        )
    head = ["method, ranges", "lie", "moved, mean", "moved, most", "place of the column", "liar named"]
    return _table([*head, "another named", "liar's stretch"], lines)


def alarms_page(honest: Records, fresh: Records, liars: Records) -> str:
    """Thresholds: in how many honest federations somebody is named, and how many harmful lies are noticed.

    A rule was thought of after a look at `honest`; `fresh` ones were measured after that.
    """
    text = []
    hows = list(next(iter(next(iter(honest.values())))))
    for how in hows:
        calm, later = ([trial[how] for trials in some.values() for trial in trials] for some in (honest, fresh))
        told = [
            entry
            for trials in liars.values()
            for trial in trials
            for entry in trial[how]
            if entry.get("moved", 0.0) >= HARM - 1e-9
        ]
        lines = []
        for odd in STEPS_OF_SHARE:
            for times in STEPS_OF_TIMES:
                alarms = [_share(bool(_odd(one["influence"], odd, times)) for one in some) for some in (calm, later)]
                noticed = sum(entry["liar"] in _odd(entry["influence"], odd, times) for entry in told)
                now = ", now" if (odd, times) == (ODD, TIMES) else ""
                rule = f"influence >= {odd:.0%} and > {times} x median{now}"
                lines.append([rule, *alarms, f"{noticed} of {len(told)}"])
        for what in ("deviation", "range"):
            for most in STEPS_OF_STRETCH:
                alarms = [_share(_stretched(one, what, most) for one in some) for some in (calm, later)]
                noticed = sum(entry["stretch"][entry["liar"]][what] > most for entry in told)
                lines.append([f"{what} x {most}", *alarms, f"{noticed} of {len(told)}"])
        head = ["rule", "honest federations with an alarm", "of fresh seeds", "harmful lies noticed"]
        text.append(f"**{how}**\n\n" + _table(head, lines))
    return "\n".join(text)


def time_page(seconds: Mapping[str, float]) -> str:
    """CPU seconds."""
    return _table(["what", "CPU seconds"], [[what, f"{value:.2f}"] for what, value in seconds.items()])


def _odd(moved: Mapping[str, float], odd: float, times: float) -> set[str]:
    usual = median(moved.values())
    return {site for site, share in moved.items() if share >= odd - 1e-9 and share > times * usual}


def _stretched(one: Mapping[str, Any], what: str, most: float) -> bool:
    return any(times[what] > most for times in one["stretch"].values())


def _share(alarms: Iterable[bool]) -> str:
    counted = list(alarms)
    return f"{sum(counted)} of {len(counted)}"


def _spread(values: Sequence[float], form: str = ".4f") -> str:
    """The mean and the standard deviation over the seeds."""
    deviation = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
    return f"{mean(values):{form}}{deviation}"


def _between(counts: Sequence[int]) -> str:
    return "" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
