"use strict";
// Draws what the summary holds; computes nothing of its own. Names of features reach the page as text only.

const LONGEST = 22; // characters of a name beside a chart
const PAGE_ROWS = 100;
const LEAST_LETTERS = 10; // pixels
const NARROW = 500;
const METHOD_COLORS = ["var(--accent)", "var(--warm)", "var(--good)", "var(--quiet)", "var(--ink)"];
const DASHES = ["none", "6,3", "2,3", "8,3,2,3", "1,4"];

const byId = (id) => document.getElementById(id);
const short = (name) => { const letters = [...name]; return letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : name; };
const whole = new Intl.NumberFormat("en-US");
const unsigned = (text) => (Number(text) === 0 ? text.replace("-", "") : text); // nothing is not below zero
const fixed = (value, digits) => (value === null || value === undefined ? "-" : digits ? unsigned(value.toFixed(digits)) : whole.format(value));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A name may break after "_", and so does not break within a word.
const breakable = (name) => name.split("_").flatMap((part, i) => (i ? ["_", element("wbr"), part] : [part]));

function readable(bytes) {
  for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (bytes >= factor) return `${(bytes / factor).toFixed(1)} ${unit}`;
  return `${bytes} B`;
}

async function unpack() {
  const letters = atob(byId("data").textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Ranks and numbers of features are whole; so are the ticks of their axes.
function wholeTicks(low, high, width) {
  const ticks = high > low ? d3.ticks(low, high, Math.min(high - low, Math.max(2, width / 80))).filter(Number.isInteger) : [low];
  return { ticks, tickFormat: (value) => whole.format(value) };
}

// Of points on a logarithmic axis those whose numbers do not lie on each other; the first ones come first.
function logTicks(values, width) {
  const place = (value) => (width * Math.log(value)) / Math.log(d3.max(values));
  const ticks = [];
  for (const value of values) if (ticks.every((other) => Math.abs(place(other) - place(value)) > 36)) ticks.push(value);
  return ticks;
}

// What the marks of a chart stand for, above it: each with a drawing like the marks themselves.
function legend(id, entries) {
  const place = byId(id)?.querySelector(".drawing");
  const list = element("ul", { class: "swatches" });
  for (const [name, swatch] of entries) {
    const item = element("li", { dir: "auto" }, swatch);
    item.append(name);
    list.append(item);
  }
  place?.append(list);
}
const swatch = () => d3.create("svg").attr("width", 26).attr("height", 12).attr("viewBox", "-13 -6 26 12").attr("aria-hidden", "true");
const lineSwatch = (stroke, dashes) => swatch().call((svg) => svg.append("line").attr("x1", -13).attr("x2", 13).attr("stroke", stroke).attr("stroke-width", 2).attr("stroke-dasharray", dashes)).node();
const symbolSwatch = (stroke, symbol) => swatch().call((svg) => svg.append("path").attr("d", d3.symbol(symbol, 40)()).attr("fill", "none").attr("stroke", stroke).attr("stroke-width", 1.5)).node();

// A chart is drawn again when its place gets another width.
function chart(id, title, draw) {
  const figure = byId(id);
  if (!figure) return;
  const place = figure.querySelector(".drawing");
  let width = 0;
  const redraw = () => {
    const now = Math.floor(place.clientWidth);
    if (now < 50 || now === width) return;
    width = now;
    const drawn = draw(now);
    const svgs = drawn.tagName === "svg" ? [drawn] : drawn.querySelectorAll("svg");
    for (const svg of svgs) {
      for (const mark of svg.querySelectorAll("[aria-label]")) mark.removeAttribute("aria-label"); // a picture has one name
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", title);
    }
    place.replaceChildren(...(place.querySelector(".swatches") ? [place.querySelector(".swatches")] : []), drawn);
  };
  new ResizeObserver(redraw).observe(place);
  redraw();
}

// ---- the table of features

function table(features) {
  const rows = features.names.map((_, place) => place);
  const ownRank = { key: "rank", title: "Rank", kind: "number", digits: 0 };
  const beneath = (key) => features.columns.find((column) => column.beneath === key);
  const valueOf = (column, place) => (column === ownRank ? place + 1 : features.values[column.key][place]);
  const columns = [ownRank, null, ...features.columns.filter((column) => !column.beneath)].map((column) => (column === null
    ? { title: "Feature", value: (place) => features.names[place], cell: feature }
    : {
      title: column.title,
      about: column.about,
      under: beneath(column.key),
      value: (place) => valueOf(column, place),
      cell: (place) => other(column, place),
      number: column.kind === "number",
      startsHigh: column.kind === "number" && column.digits > 0,
    }));
  const lower = features.names.map((name) => name.toLowerCase());
  const state = { column: 0, down: false, page: 0, words: "", which: features.n_chosen ? "chosen" : "all", everything: false, before: null };
  const body = document.querySelector("#table tbody");

  function feature(place) {
    const name = element("bdi", { class: "name" });
    name.append(...breakable(features.names[place]));
    if (features.names[place].length > 60) name.title = features.names[place].slice(0, 1000);
    const made = element("th", { scope: "row", class: "feature" }, name);
    if (features.why.length) {
      const why = element("span", { class: "why", dir: "auto" });
      why.textContent = features.why[place];
      made.append(why);
    }
    return made;
  }
  function other(column, place) {
    const made = element("td", { class: column.kind === "number" ? "number" : "", "data-title": column.title });
    made.append(shown(column, place));
    const under = beneath(column.key);
    if (under) made.append(element("span", { class: "beneath", "data-title": under.title }, shown(under, place)));
    return made;
  }
  function shown(column, place) {
    const value = valueOf(column, place);
    if (column.kind === "number") return fixed(value, column.digits);
    const name = element("bdi", column.kind === "feature" ? { class: "clip" } : {});
    name.textContent = value || "-";
    if (value && value.length > 18) name.title = value.slice(0, 1000);
    return name;
  }

  function matching() {
    const words = state.words.trim().toLowerCase();
    let found = rows;
    if (state.which === "chosen") found = rows.slice(0, features.n_chosen);
    if (state.which === "others") found = rows.slice(features.n_chosen);
    if (words) found = found.filter((place) => lower[place].includes(words));
    const { value } = columns[state.column];
    const sign = state.down ? -1 : 1;
    if (state.column === 0) return state.down ? [...found].reverse() : found;
    const keyed = found.map((place) => [value(place), place]);
    keyed.sort(([one, a], [two, b]) => {
      const none = [one, two].map((v) => v === null || v === undefined || v === "");
      if (none[0] || none[1]) return none[0] - none[1] || a - b; // what is not known comes last, either way
      return sign * (typeof one === "string" ? one.localeCompare(two) : one - two) || a - b;
    });
    return keyed.map(([, place]) => place);
  }

  function draw() {
    const found = matching();
    const nPages = Math.max(1, Math.ceil(found.length / PAGE_ROWS));
    state.page = Math.min(state.page, nPages - 1);
    const from = state.everything ? 0 : state.page * PAGE_ROWS;
    const shown = state.everything ? found : found.slice(from, from + PAGE_ROWS);
    const inOrder = state.column === 0 && !state.down && state.which !== "others";
    body.replaceChildren(...shown.map((place) => {
      const row = element("tr", { class: place < features.n_chosen ? "chosen" : "other" });
      if (inOrder && place === features.n_chosen - 1) row.classList.add("cut");
      row.append(...columns.map((column) => column.cell(place)));
      return row;
    }));
    byId("shown").textContent = found.length
      ? `${whole.format(from + 1)} to ${whole.format(from + shown.length)} of ${whole.format(found.length)}`
      : state.words.trim() ? "No feature has that in its name." : "No features.";
    byId("pages").hidden = nPages === 1;
    byId("page").textContent = `Page ${whole.format(state.page + 1)} of ${whole.format(nPages)}`;
    byId("before").disabled = state.page === 0;
    byId("after").disabled = state.page === nPages - 1;
  }

  const heads = columns.map((column, index) => {
    const button = element("button", { type: "button" });
    button.textContent = column.title;
    if (column.about) button.title = column.about;
    const head = element("th", { scope: "col", "data-title": column.title, ...(column.number ? { class: "number" } : {}) }, button);
    if (column.under) head.append(element("span", { class: "beneath" }, column.under.title));
    button.addEventListener("click", () => {
      state.down = state.column === index ? !state.down : Boolean(column.startsHigh);
      state.column = index;
      state.page = 0;
      mark();
      draw();
    });
    return head;
  });
  const mark = () => heads.forEach((head, index) => {
    if (index === state.column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  document.querySelector("#table thead tr").replaceChildren(...heads);
  byId("table-tools").hidden = false;
  byId("table-tools").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", (event) => {
    state.words = event.target.value;
    state.page = 0;
    if (state.words.trim() && state.before === null) { // a search is for a feature, wherever it is
      state.before = state.which;
      setWhich("all");
    } else if (!state.words.trim() && state.before !== null) {
      setWhich(state.before);
      state.before = null;
    }
    draw();
  });
  const setWhich = (which) => {
    state.which = which;
    for (const radio of document.getElementsByName("which")) radio.checked = radio.value === which;
  };
  for (const radio of document.getElementsByName("which")) {
    radio.addEventListener("change", () => {
      state.which = radio.value;
      if (state.before !== null) state.before = radio.value; // what is said during a search holds after it
      state.page = 0;
      draw();
    });
  }
  for (const [id, step] of [["before", -1], ["after", 1]]) {
    byId(id).addEventListener("click", () => { state.page += step; draw(); byId("features").scrollIntoView(); });
  }
  // On paper: all chosen features, whatever the screen shows.
  let kept = null;
  addEventListener("beforeprint", () => {
    kept ??= { ...state };
    Object.assign(state, { column: 0, down: false, page: 0, words: "", which: "chosen", everything: true });
    mark();
    draw();
  });
  addEventListener("afterprint", () => { if (kept) { Object.assign(state, kept); kept = null; mark(); draw(); } });
  mark();
  draw();
}

// On paper nothing can be opened by a click.
function openOnPaper() {
  let closed = [];
  addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("details:not([open])")]; for (const one of closed) one.open = true; });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
}

// ---- charts

const base = (width, { x, ...more }) => ({
  width, height: Math.max(220, Math.min(340, width * 0.6)), marginLeft: 48, marginBottom: 44, grid: true, style: { background: "none" },
  x: { labelOffset: 40, ...x }, // below the ticks, not among them
  ...more,
});

function scoreCurve({ points, cut, knows_chance: knowsChance }) {
  chart("score-curve", "Scores of the features from best to worst, with the cut between chosen and other features", (width) => Plot.plot(base(width, {
    x: { label: "rank", ...(points.length && points.at(-1).rank > 2000 ? { type: "log" } : wholeTicks(1, points.at(-1)?.rank ?? 1, width)) },
    y: { label: "score" },
    marks: [
      knowsChance ? Plot.lineY(points.filter((p) => p.chance !== null), { x: "rank", y: "chance", stroke: "var(--quiet)", strokeWidth: 1 }) : null,
      Plot.lineY(points, { x: "rank", y: "score", stroke: "var(--accent)", strokeWidth: 2 }),
      cut ? Plot.ruleX([cut + 0.5], { stroke: "var(--warm)", strokeDasharray: "4,3" }) : null,
      cut ? Plot.text([`${whole.format(cut)} chosen`], { x: cut + 0.5, frameAnchor: "top", dx: 6, textAnchor: "start", fill: "var(--warm)" }) : null,
      Plot.tip(points, Plot.pointerX({ x: "rank", y: "score", title: (p) => `${short(p.feature)}\nrank ${whole.format(p.rank)}\nscore ${fixed(p.score, 3)}${p.chance === null ? "" : `\nchance ${fixed(p.chance, 3)}`}` })),
    ],
  })));
}

function certainty(rows) {
  const names = new Map(rows.map((row) => [row.rank, `${row.rank}  ${short(row.feature)}`]));
  const worst = Math.max(2, d3.max(rows, (row) => row.high));
  chart("certainty", "Ranks of the best chosen features over bootstraps", (width) => Plot.plot(base(width, {
    height: 52 + Math.max(160, rows.length * 15), marginLeft: Math.min(170, width * 0.4), marginTop: 48, marginBottom: 8,
    x: { label: "rank", axis: "top", labelOffset: 44, domain: [1, worst], ...wholeTicks(1, worst, width * 0.6) },
    y: { type: "point", label: null, tickFormat: (rank) => names.get(rank), tickSize: 0, domain: rows.map((row) => row.rank) },
    marks: [
      Plot.ruleY(rows, { y: "rank", x1: "low", x2: "high", stroke: "var(--quiet)", strokeWidth: 3, strokeLinecap: "round" }),
      Plot.dot(rows, { y: "rank", x: "rank", fill: "var(--accent)", r: 4 }),
      Plot.tip(rows, Plot.pointerY({ y: "rank", x: "rank", title: (row) => `${short(row.feature)}\nrank ${row.rank}, ${row.low} to ${row.high}${row.stability === null ? "" : `\nchosen in ${Math.round(100 * row.stability)} % of bootstraps`}` })),
    ],
  })));
}

function lines(id, title, points, label) {
  const methods = [...new Set(points.map((point) => point.method))];
  const color = (index) => METHOD_COLORS[index % METHOD_COLORS.length], dashes = (index) => DASHES[index % DASHES.length];
  if (methods.length > 1) legend(id, methods.map((method, index) => [short(method), lineSwatch(color(index), dashes(index))]));
  const marks = methods.flatMap((method, index) => {
    const own = points.filter((point) => point.method === method && point.mean !== null);
    const stroke = color(index), dx = 5 * (index - (methods.length - 1) / 2); // side by side, as all have the same numbers
    return [
      Plot.ruleX(own.filter((point) => point.error !== null), { x: "k", y1: (p) => p.mean - p.error, y2: (p) => p.mean + p.error, stroke, dx }),
      Plot.lineY(own, { x: "k", y: "mean", stroke, strokeWidth: 2, strokeDasharray: dashes(index), dx }),
      Plot.dot(own, { x: "k", y: "mean", fill: stroke, r: 3, dx }),
    ];
  });
  const [fewest, most] = d3.extent(points, (point) => point.k);
  chart(id, title, (width) => Plot.plot(base(width, {
    x: { label: "number of features", inset: 5 * methods.length, ...wholeTicks(fewest, most, width) }, y: { label },
    marks: [...marks, Plot.tip(points, Plot.pointer({ x: "k", y: "mean", title: (p) => `${p.method ? `${short(p.method)}\n` : ""}${whole.format(p.k)} ${p.k === 1 ? "feature" : "features"}\n${label} ${p.mean}${p.error === null ? "" : ` ± ${p.error}`}` }))],
  })));
}

function amounts(rows) {
  chart("amounts", "Bytes that left the sites beside the size of the raw rows", (width) => Plot.plot(base(width, {
    height: 30 + rows.length * 44, marginLeft: 0, marginRight: 70, marginTop: 8, marginBottom: 20, grid: false, x: { axis: null }, y: { axis: null, domain: rows.map((row) => row.what), padding: 0.55 },
    marks: [
      Plot.barX(rows, { x: "bytes", y: "what", fill: (row) => (row.ours ? "var(--accent)" : "var(--quiet)"), insetTop: 8, insetBottom: -8 }),
      Plot.text(rows, { x: 0, y: "what", text: "what", textAnchor: "start", dy: -12 }),
      Plot.text(rows, { x: "bytes", y: "what", text: (row) => readable(row.bytes), textAnchor: "start", dx: 6, dy: 8, fontWeight: 600 }),
    ],
  })));
}

function shift(parties) {
  const points = parties.flatMap((party) => party.columns.map((column) => ({ ...column, party: party.party })));
  if (!points.length) return;
  const far = Math.max(1, d3.max(points, (point) => Math.abs(point.mean)));
  chart("shift-chart", "For each site, the columns whose mean is farthest from that of the others", (width) => Plot.plot(base(width, {
    height: 60 + parties.length * 24, marginLeft: Math.min(170, width * 0.35), x: { label: "standard deviations from the others' mean", domain: [-far, far] },
    y: { label: null, tickSize: 0, tickFormat: short, domain: parties.map((party) => party.party) },
    marks: [
      Plot.ruleX([0], { stroke: "var(--quiet)" }),
      Plot.dot(points, { x: "mean", y: "party", r: 5, fill: "var(--accent)", fillOpacity: 0.75 }),
      Plot.tip(points, Plot.pointer({ x: "mean", y: "party", title: (p) => `${short(p.party)}\n${short(p.feature)}\nmean ${p.mean} standard deviations away${p.spread === null ? "" : `\nspread ${p.spread} times theirs`}` })),
    ],
  })));
}

function map(alike) {
  const { features, values } = alike.map;
  const n = features.length;
  const image = byId("map").dataset.image;
  chart("map", "Map of how alike the chosen features are; the pairs most alike are listed below", (width) => {
    const beside = Math.min(150, width * 0.32);
    const letters = Math.min(12, (0.95 * Math.min(width - beside, 560)) / n);
    const labels = letters >= LEAST_LETTERS ? beside : 0; // smaller ones nobody can read
    const side = Math.min(width - labels, 560);
    const step = side / n;
    const svg = d3.create("svg").attr("width", labels + side).attr("height", side).attr("viewBox", `0 0 ${labels + side} ${side}`);
    // The picture is a mask over one color, which is another one in the dark.
    svg.append("mask").attr("id", "likeness").append("image").attr("href", image).attr("x", labels).attr("width", side).attr("height", side).attr("preserveAspectRatio", "none");
    const square = () => svg.append("rect").attr("x", labels).attr("width", side).attr("height", side);
    square().attr("fill", "var(--raised)").attr("stroke", "var(--line)");
    square().attr("class", "cells").attr("fill", "var(--map)").attr("mask", "url(#likeness)");
    if (labels) {
      svg.append("g").attr("text-anchor", "end").attr("fill", "currentColor").attr("font-size", letters)
        .selectAll("text").data(features).join("text").attr("x", labels - 6).attr("y", (_, i) => (i + 0.5) * step).attr("dy", "0.35em").text(short);
    }
    const spot = svg.append("rect").attr("width", step).attr("height", step).attr("fill", "none").attr("stroke", "var(--warm)").attr("stroke-width", 2).attr("visibility", "hidden");
    const tell = (i, j) => {
      spot.attr("x", labels + j * step).attr("y", i * step).attr("visibility", "visible");
      byId("map-pair").textContent = i === j ? short(features[i]) : `${short(features[i])} and ${short(features[j])}: ${values[i][j]}`;
    };
    svg.on("pointermove", (event) => {
      const [x, y] = d3.pointer(event, svg.node());
      const i = Math.floor(y / step), j = Math.floor((x - labels) / step);
      if (i >= 0 && j >= 0 && i < n && j < n) tell(i, j);
    }).on("pointerleave", () => spot.attr("visibility", "hidden"));
    return svg.node();
  });
}

// The best features whose names do not lie on each other; letters are about 6 pixels wide and 11 high.
function apart(nodes, most, place) {
  const named = new Map();
  for (const node of nodes) {
    const { x, y } = place(node), half = 3.2 * short(node.feature).length;
    const free = [...named.values()].every((other) => Math.abs(other.x - x) > other.half + half || Math.abs(other.y - y) > 12);
    if (free && named.size < most) named.set(node, { x, y, half });
  }
  return named;
}

function graph({ nodes, links }, measure) {
  const zoom = d3.zoom().scaleExtent([0.8, 12]);
  let current = null;
  chart("graph", "Graph of the chosen features; like features are near each other", (width) => {
    const height = Math.min(width, 560), edge = 42;
    const x = (node) => edge + node.x * (width - 2 * edge), y = (node) => edge + node.y * (height - 2 * edge);
    const scores = d3.extent(nodes, (node) => node.score);
    const radius = d3.scaleSqrt(scores[0] === scores[1] ? [scores[0] - 1, scores[1]] : scores, [3, 9]);
    const svg = d3.create("svg").attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
    const all = svg.append("g");
    const named = apart(nodes, width < NARROW ? 10 : 30, (node) => ({ x: x(node), y: y(node) - radius(node.score) - 4 }));
    const usually = (node) => (named.has(node) ? "visible" : "hidden");
    const drawnLinks = all.append("g").attr("stroke", "var(--quiet)").attr("stroke-opacity", 0.55).selectAll("line").data(links).join("line")
      .attr("x1", (l) => x(nodes[l.from])).attr("y1", (l) => y(nodes[l.from])).attr("x2", (l) => x(nodes[l.to])).attr("y2", (l) => y(nodes[l.to]));
    const dots = all.append("g").selectAll("circle").data(nodes).join("circle").attr("cx", x).attr("cy", y).attr("r", (node) => radius(node.score)).attr("fill", "var(--accent)").attr("stroke", "var(--raised)").attr("stroke-width", 1.5);
    const names = all.append("g").attr("fill", "currentColor").attr("font-size", 11).attr("text-anchor", "middle").attr("stroke", "var(--raised)").attr("stroke-width", 3).attr("paint-order", "stroke").attr("pointer-events", "none")
      .selectAll("text").data(nodes).join("text").attr("x", x).attr("y", (node) => y(node) - radius(node.score) - 4).text((node) => short(node.feature))
      .attr("visibility", usually);
    dots.append("title").text((node) => `${node.feature.slice(0, 300)}\nrank ${node.rank}, score ${node.score}`);
    drawnLinks.append("title").text((l) => `${short(nodes[l.from].feature)} and ${short(nodes[l.to].feature)}: ${measure} ${l.value}`);
    dots.on("pointerenter", (_, node) => {
      const place = node.rank - 1;
      const near = new Set([place, ...links.filter((l) => l.from === place || l.to === place).flatMap((l) => [l.from, l.to])]);
      drawnLinks.attr("stroke", (l) => (l.from === place || l.to === place ? "var(--warm)" : null)).attr("stroke-opacity", (l) => (l.from === place || l.to === place ? 1 : null));
      dots.attr("fill-opacity", (_, i) => (near.has(i) ? 1 : 0.25));
      names.attr("visibility", (_, i) => (near.has(i) ? "visible" : "hidden"));
    }).on("pointerleave", () => {
      drawnLinks.attr("stroke", null).attr("stroke-opacity", null);
      dots.attr("fill-opacity", null);
      names.attr("visibility", usually);
    });
    zoom.on("zoom", ({ transform }) => {
      all.attr("transform", transform);
      names.attr("font-size", 11 / transform.k).attr("stroke-width", 3 / transform.k).attr("y", (node) => y(node) - (radius(node.score) + 4) / transform.k);
      dots.attr("r", (node) => radius(node.score) / transform.k);
      drawnLinks.attr("stroke-width", 1 / transform.k);
    }).filter((event) => event.type !== "wheel" || event.ctrlKey || event.metaKey); // a page that scrolls stays one that scrolls
    current = svg;
    return svg.call(zoom).node();
  });
  for (const [id, factor] of [["zoom-in", 1.5], ["zoom-out", 1 / 1.5]]) byId(id).addEventListener("click", () => current?.call(zoom.scaleBy, factor));
  byId("zoom-reset").addEventListener("click", () => current?.call(zoom.transform, d3.zoomIdentity));
}

function comparison(changes) {
  const sizes = changes.overlap_at.map((row) => row.k);
  chart("overlap-curve", "Share of the best k features that both selections have", (width) => Plot.plot(base(width, {
    x: { label: "best k of each", type: "log", tickFormat: (k) => whole.format(k), ticks: logTicks([...changes.n_selected.filter((k) => sizes.includes(k)), ...sizes], width - 70) }, y: { label: "share in both", domain: [0, 1] },
    marks: [
      Plot.lineY(changes.overlap_at, { x: "k", y: "share", stroke: "var(--accent)", strokeWidth: 2 }),
      Plot.dot(changes.overlap_at, { x: "k", y: "share", fill: "var(--accent)" }),
      Plot.tip(changes.overlap_at, Plot.pointerX({ x: "k", y: "share", title: (row) => `best ${whole.format(row.k)}\n${whole.format(row.overlap)} in both\nJaccard ${row.jaccard.toFixed(2)}` })),
    ],
  })));
  const kinds = { "in both": ["var(--accent)", d3.symbolCircle], "only in the first": ["var(--warm)", d3.symbolTriangle], "only in the second": ["var(--good)", d3.symbolSquare], "in neither": ["var(--quiet)", d3.symbolPlus] };
  legend("rank-shifts", Object.entries(kinds).map(([kind, look]) => [kind, symbolSwatch(...look)]));
  const most = d3.max(changes.points, (point) => Math.max(point.first, point.second));
  chart("rank-shifts", "Rank of each feature in the first and in the second selection", (width) => Plot.plot(base(Math.min(width, 640), {
    height: Math.min(width, 640), marginLeft: 56,
    x: { label: "rank in the first", domain: [1, most], ...wholeTicks(1, most, Math.min(width, 640)) }, y: { label: "rank in the second", domain: [1, most], reverse: true, ...wholeTicks(1, most, Math.min(width, 640)) },
    marks: [
      Plot.link([0], { x1: 1, y1: 1, x2: most, y2: most, stroke: "var(--line)" }),
      Plot.ruleX([changes.n_selected[0] + 0.5], { stroke: "var(--quiet)", strokeDasharray: "4,3" }),
      Plot.ruleY([changes.n_selected[1] + 0.5], { stroke: "var(--quiet)", strokeDasharray: "4,3" }),
      ...Object.entries(kinds).map(([kind, [color, symbol]]) => Plot.dot(changes.points.filter((p) => p.state === kind), { x: "first", y: "second", stroke: color, symbol, r: kind === "in neither" ? 2 : 4 })),
      Plot.tip(changes.points, Plot.pointer({ x: "first", y: "second", title: (p) => `${short(p.feature)}\n${whole.format(p.first)} in the first, ${whole.format(p.second)} in the second\n${p.state}` })),
    ],
  })));
}

function quality({ panels }) {
  panels.forEach((panel, index) => lines(`quality-${index}`, `${panel.measure} of ${panel.classifier} against the number of features`, panel.points, panel.measure));
}

function tell(error) {
  byId("why-not").textContent = ` (${error})`;
  byId("undrawn").hidden = false;
  console.error(error);
}

unpack().then((summary) => {
  openOnPaper();
  if (summary.kind === "comparison") comparison(summary.changes);
  else table(summary.features);
  if (summary.quality) quality(summary.quality);
  if (summary.kind === "selection") {
    scoreCurve(summary.scores);
    certainty(summary.certainty);
    if (summary.alike) { map(summary.alike); graph(summary.alike.graph, summary.alike.measure); }
    if (summary.sizes.length) lines("sizes", "Ranking loss against the number of features", summary.sizes.map((row) => ({ method: "", k: row.k, mean: row.loss, error: row.error })), "ranking loss");
    amounts(summary.federation.amounts);
    if (summary.shift) shift(summary.shift.parties);
  }
  document.documentElement.dataset.ready = "yes";
}).catch(tell);
