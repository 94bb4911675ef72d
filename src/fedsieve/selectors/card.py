"""A fitted selector as a card for notebooks: how much it chose, and the best features as bars; static HTML and SVG."""

from html import escape
from typing import Any

N_SHOWN, WIDTH, HEIGHT, LONGEST = 10, 420, 22, 32
NAMES = 200  # pixels for names


def card(selector: Any) -> str:
    """The card; colors are the notebook's own, so that it fits light and dark ones."""
    order, support, scores = selector.order_, selector.support_, selector.scores_
    names = getattr(selector, "feature_names_in_", None)
    best = order[:N_SHOWN]
    top = max((float(scores[i]) for i in best), default=0.0)
    low = min(0.0, *(float(scores[i]) for i in best))
    bars = "".join(
        _bar(place, f"x{i}" if names is None else str(names[i]), float(scores[i]), (low, top), bool(support[i]))
        for place, i in enumerate(best)
    )
    rest = len(order) - len(best)
    more = f"<p style='opacity:.7;margin:.3em 0 0'>and {rest:,} more features</p>" if rest > 0 else ""
    told = f"{escape(type(selector).__name__)} selected {int(support.sum()):,} of {len(order):,} features"
    return (
        "<div style='font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:46em'>"
        f"<p style='margin:0 0 .4em'><strong>{told}</strong></p>"
        f"<svg role='img' aria-label='Scores of the best features' width='{WIDTH}' height='{len(best) * HEIGHT}' "
        f"font-size='12' fill='currentColor'>{bars}</svg>{more}</div>"
    )


def _bar(place: int, name: str, score: float, ends: tuple[float, float], selected: bool) -> str:
    low, top = ends
    width = (WIDTH - NAMES - 60) * (score - low) / ((top - low) or 1.0)
    y = place * HEIGHT
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    color = "#2f7fc1" if selected else "#8b98a5"
    return (
        f"<text x='{NAMES - 8}' y='{y + 15}' text-anchor='end'>{escape(short)}</text>"
        f"<rect x='{NAMES}' y='{y + 4}' width='{max(width, 1):.1f}' height='{HEIGHT - 8}' fill='{color}'/>"
        f"<text x='{NAMES + max(width, 1) + 6:.1f}' y='{y + 15}'>{score:.3f}</text>"
    )
