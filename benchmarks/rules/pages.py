"""Tables in Markdown of what was measured; nothing is computed here but means and counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from statistics import mean, median, stdev
from typing import Any

from benchmarks.rules.cost import EXACT, RANDOM
from fedsieve.privacy import SITE
from fedsieve.protocol.influence import ODD, SPREADS, TIMES, odd_sites

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
        warned = [(entry["liar"], set(odd_sites(entry["influence"], entry["stretch"]))) for entry in seen]
        named = sum(liar in odd for liar, odd in warned)
        others = sum(bool(odd - {liar}) for liar, odd in warned)
        places = [entry["place"] for entry in seen if "place" in entry]
        place = f"{median(p[0] for p in places):.0f} -> {median(p[1] for p in places):.0f}" if places else ""
        stretched = [entry["stretch"].get(entry["liar"], 1.0) for entry in seen]
        lines.append(
            [
                how,
                lie,
                f"{mean(entry['moved'] for entry in seen):.0%}",
                f"{max(entry['moved'] for entry in seen):.0%}",
                place,
                f"{named} of {len(seen)}",
                f"{others} of {len(seen)}",
                f"{min(min(stretched), 1e6):.3g} to {min(max(stretched), 1e6):.3g}",
            ]
        )
    head = ["method, ranges", "lie", "moved, mean", "moved, most", "place of the column", "liar named"]
    return _table([*head, "another named", "liar's stretch"], lines)


def alarms_page(honest: Records, liars: Records) -> str:
    """Thresholds: in how many honest federations somebody is named, and how many harmful lies are noticed."""
    text = []
    for how in next(iter(honest.values()))[0]:
        calm = [trial[how] for trials in honest.values() for trial in trials]
        told = [
            entry
            for trials in liars.values()
            for trial in trials
            for entry in trial[how]
            if entry.get("moved", 0.0) >= HARM - 1e-9
        ]
        named: dict[str, Callable[[Mapping[str, Any]], set[str]]]
        named = {"either, as it is now": lambda one: set(odd_sites(one["influence"], one["stretch"]))}
        for odd, times in product(STEPS_OF_SHARE, STEPS_OF_TIMES):
            now = ", now" if (odd, times) == (ODD, TIMES) else ""
            named[f"influence >= {odd:.0%} and > {times} x median{now}"] = partial(_odd, odd=odd, times=times)
        for most in STEPS_OF_STRETCH:
            now = ", now" if most == SPREADS else ""
            named[f"a column's spread x {most}{now}"] = partial(_stretched, most=most)
        lines = [
            [rule, _share(bool(who(one)) for one in calm), _share(entry["liar"] in who(entry) for entry in told)]
            for rule, who in named.items()
        ]
        head = ["rule", "honest federations with an alarm", "harmful lies whose liar is named"]
        text.append(f"**{how}**\n\n" + _table(head, lines))
    return "\n".join(text)


def time_page(seconds: Mapping[str, float]) -> str:
    """CPU seconds."""
    return _table(["what", "CPU seconds"], [[what, f"{value:.2f}"] for what, value in seconds.items()])


def _odd(one: Mapping[str, Any], odd: float, times: float) -> set[str]:
    usual = median(one["influence"].values())
    return {site for site, share in one["influence"].items() if share >= odd - 1e-9 and share > times * usual}


def _stretched(one: Mapping[str, Any], most: float) -> set[str]:
    return {site for site, factor in one["stretch"].items() if factor > most}


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
