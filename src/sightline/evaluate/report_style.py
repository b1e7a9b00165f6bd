"""The style sheet of the report page: light and dark, heat-map shades on which the numbers stay readable."""

from __future__ import annotations

SHADES = 21  # weights in steps of 1/20

Colour = tuple[int, int, int]

_LIGHT: tuple[Colour, Colour] = ((255, 255, 255), (12, 80, 150))  # weight 0, weight 1
_DARK: tuple[Colour, Colour] = ((20, 22, 26), (125, 195, 255))

_PAGE = """
:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--line:#bbb;--soft:#595959;--sure:#b00020;--link:#0b50a0}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1rem}
a{color:var(--link)}
code{overflow-wrap:anywhere}
div{overflow-x:auto;margin:1.5rem 0}
table{border-collapse:collapse}
caption{text-align:start;font-weight:600;padding:.3rem 0}
th,td{border-bottom:1px solid var(--line);padding:.25rem .7rem;text-align:start;font-weight:400}
th[scope=col]{color:var(--soft)}
.n{font-variant-numeric:tabular-nums;white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:1rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.heat th,.heat td{border:0;padding:.15rem .3rem}
.heat td{min-width:1.6rem;text-align:center;font-size:.8rem;font-variant-numeric:tabular-nums}
.heat th[scope=col]{writing-mode:vertical-rl;vertical-align:bottom;color:var(--ink)}
.heat th[scope=row]{text-align:end}
.sure{outline:2px solid var(--sure);outline-offset:-2px}
.possible{outline:2px dashed var(--sure);outline-offset:-2px}
"""
_PAGE_DARK = ":root{--ink:#e8e8e8;--paper:#14161a;--line:#444;--soft:#a8a8a8;--sure:#ff8a8a;--link:#8fc4ff}"


def shade(weight: float, ends: tuple[Colour, Colour]) -> tuple[Colour, str]:
    """The background for a weight and the text colour, black or white, that stands out from it more."""
    red, green, blue = (round(low + weight * (high - low)) for low, high in zip(*ends, strict=True))
    bright = luminance((red, green, blue)) + 0.05
    return (red, green, blue), "#000" if bright / 0.05 >= 1.05 / bright else "#fff"


def luminance(colour: Colour) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _shades(ends: tuple[Colour, Colour]) -> str:
    rules = []
    for step in range(SHADES):
        (red, green, blue), ink = shade(step / (SHADES - 1), ends)
        rules.append(f".w{step}{{background:#{red:02x}{green:02x}{blue:02x};color:{ink}}}")
    return "\n".join(rules)


STYLE = f"{_PAGE}{_shades(_LIGHT)}\n@media (prefers-color-scheme:dark){{\n{_PAGE_DARK}\n{_shades(_DARK)}\n}}\n"
