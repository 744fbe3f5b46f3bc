"""Draws calls a second and pods of each pool over a day, as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

WIDTH, HEIGHT, LEFT, GAP = 1000, 90, 110, 34
BUCKET_S = 60


def picture(pools: Sequence[tuple[str, Sequence[float], Sequence[tuple[float, int]]]], day_s: int) -> str:
    """An SVG.

    Args:
        pools: name, times of calls, and times with the number of pods from then on, in seconds of the day.
    """
    parts = []
    for row, (name, times, pods) in enumerate(pools):
        top = 40 + row * (HEIGHT + GAP)
        counts = Counter(int(at // BUCKET_S) for at in times)
        rates = [counts[bucket] / BUCKET_S for bucket in range(day_s // BUCKET_S)]
        most_rate, most_pods = max(rates), max(count for _, count in pods)

        def place(at: float, share: float, top: int = top) -> str:
            return f"{LEFT + at / day_s * WIDTH:.1f},{top + HEIGHT * (1 - share):.1f}"

        area = " ".join(place(bucket * BUCKET_S, rate / most_rate) for bucket, rate in enumerate(rates))
        parts.append(f'<polygon fill="#c9d8ee" points="{place(0, 0)} {area} {place(day_s, 0)}"/>')
        steps, before = [], pods[0][1]
        for at, count in [*pods, (float(day_s), pods[-1][1])]:
            steps += [place(at, before / most_pods), place(at, count / most_pods)]
            before = count
        parts.append(f'<polyline fill="none" stroke="#b3400f" stroke-width="1.6" points="{" ".join(steps)}"/>')
        parts.append(f'<text x="8" y="{top + 20}" font-weight="bold">{name}</text>')
        parts.append(f'<text x="8" y="{top + 40}" fill="#45679a">{most_rate:.1f} calls/s</text>')
        parts.append(f'<text x="8" y="{top + 58}" fill="#b3400f">{most_pods} pods</text>')
    bottom = 40 + len(pools) * (HEIGHT + GAP)
    hours = "".join(f'<text x="{LEFT + h / 24 * WIDTH:.0f}" y="{bottom}">{h} h</text>' for h in range(0, 24, 4))
    title = (
        f'<text x="{LEFT}" y="22">Calls a second (area) and pods (line) over a day, as shares of their maxima</text>'
    )
    size = f"{LEFT + WIDTH + 20} {bottom + 16}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="white"/>{title}{"".join(parts)}{hours}</svg>\n'
    )
