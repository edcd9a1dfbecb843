"""How the page of a report looks: on a phone, on a wide screen, light and dark."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --page: #fff;
  --line: #d1d9e0; --band: #f6f8fa;
  --s0: #0969da; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --s4: #bf3989; --s5: #7d4e00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --page: #0d1117; --line: #3d444d; --band: #151b23;
    --s0: #58a6ff; --s1: #f0883e; --s2: #56d364; --s3: #bc8cff; --s4: #ff7bcb; --s5: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 120rem; padding: 0 clamp(1rem, 3vw, 3rem); background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
p { max-width: 50rem; } p, small { color: var(--soft); } small { font-size: .8rem; font-weight: 400; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .4rem; text-align: right;
  vertical-align: top; }
thead th { border-bottom-width: 2px; vertical-align: bottom; max-width: 6.5rem; }
.average th, .average td { background: var(--band); font-weight: 600; }

/* A table that is wider than the page scrolls. Its hint has a width only then: 100% is the table's width,
   100cqw that of the page. Names stay where they are. */
.wide { overflow-x: auto; container-type: inline-size; }
.wide > div { width: max-content; min-width: 100%; }
.hint { position: sticky; left: 0; display: block; overflow: hidden; white-space: nowrap; height: 1.4rem;
  color: var(--soft); font-size: .8rem; width: clamp(0px, (100% - 100cqw) * 999, 100cqw); }
.name { position: sticky; left: 0; background: var(--page); text-align: left; font-size: .9rem;
  line-height: 1.3; min-width: 5rem; max-width: 12rem; overflow-wrap: anywhere;
  border-right: 1px solid var(--line); }
@media (max-width: 72rem) { .name { max-width: 8rem; } }
.set th { text-align: left; padding-top: 1rem; }
.set span { position: sticky; left: .4rem; display: inline-block; max-width: calc(100cqw - .8rem);
  overflow-wrap: anywhere; }

.plots { display: flex; flex-wrap: wrap; gap: 1.5rem 3rem; }
figure { margin: 0; flex: 1 1 auto; max-width: 100%; overflow-x: auto; }
figcaption { font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .2rem 0 .6rem; font-size: .85rem; }
.legend i { display: inline-block; width: .7rem; height: .7rem; margin-right: .35rem; }
.panels { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; } svg { height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .soft { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .whisker { stroke: var(--ink); }
svg line { stroke-linecap: round; }

details { border-bottom: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; }
.texts { table-layout: fixed; margin-top: .5rem; }
.texts td, .texts th { text-align: left; max-width: none; overflow-wrap: anywhere; }
@media (max-width: 44rem) {
  .texts thead { display: none; } .texts tr, .texts td { display: block; }
  .texts tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  .texts td { border: 0; padding: .1rem 0; }
  .texts td::before { content: attr(data-head) ": "; color: var(--soft); }
}
"""
