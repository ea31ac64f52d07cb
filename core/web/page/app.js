// The web page of hone: reads /api/… and shows it. All texts are hostile, so elements are made by h() and s() and texts are
// text nodes; nothing parses HTML. Views are in the location's hash: #/live?task=…, #/tasks, #/compare?a_client=…, #/episodes?search=…, #/episodes/ID?turn=2.
"use strict";

// ---- elements

const SVG = "http://www.w3.org/2000/svg";
const HIDDEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFFE\uFFFF]|(?![\t\n])\p{Cc}/gu;

/** Characters that cannot be seen or that reorder others become visible: ⟨U+202E⟩. */
function visible(text) {
  return String(text).replace(/\r\n/g, "\n").replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

function cut(text, length) {
  const all = [...visible(text)];
  return all.length > length ? all.slice(0, length - 1).join("") + "…" : all.join("");
}

const ATTRIBUTES = new Set(["class", "title", "href", "id", "type", "name", "placeholder", "scope", "role", "tabindex", "lang", "for", "value",
  "autocomplete", "open", "colspan", "width", "height", "viewBox", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d", "points", "rx",
  "text-anchor", "preserveAspectRatio", "spellcheck", "maxlength"]);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else {
      if (!ATTRIBUTES.has(name) && !name.startsWith("aria-") && !name.startsWith("data-")) throw new Error(`attribute ${name}`);
      if (name === "href" && !String(value).startsWith("#")) throw new Error("a link leaves the page");
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function setText(node, text) {
  const wanted = visible(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

/** A table whose rows are updated in place. A cell is a text, a node, or {text, node, title, href, class}. */
class Table {
  constructor(columns, {caption, sort, empty} = {}) {
    this.columns = columns;
    this.sort = sort || null; // [column, 1 or -1]
    this.body = h("tbody");
    this.heads = columns.map((column, index) => h("th", {scope: "col", class: column.class},
      column.key ? h("button", {type: "button", click: () => this.sortBy(index)}, column.name) : column.name));
    this.empty = h("p", {class: "empty"}, empty || "None yet.");
    this.table = h("table", {}, caption ? h("caption", {}, caption) : null, h("thead", {}, h("tr", {}, this.heads)), this.body);
    this.node = h("div", {}, h("div", {class: "table"}, this.table), this.empty);
    this.rows = [];
    this.table.hidden = this.empty.hidden = true; // until the first rows, or none, are known
  }
  sortBy(index) {
    const down = this.sort && this.sort[0] === index ? -this.sort[1] : this.columns[index].text ? 1 : -1;
    this.sort = [index, down];
    this.update(this.rows);
  }
  update(rows) {
    this.rows = rows;
    let shown = rows;
    if (this.sort) {
      const [index, direction] = this.sort;
      const key = this.columns[index].key;
      shown = [...rows].sort((a, b) => {
        const [x, y] = [key(a.data), key(b.data)];
        if (x === y) return 0;
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        return (x < y ? -1 : 1) * direction;
      });
      this.heads.forEach((head, i) => {
        if (i === index) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending"); else head.removeAttribute("aria-sort");
      });
    }
    this.table.hidden = shown.length === 0;
    this.empty.hidden = shown.length !== 0;
    while (this.body.rows.length > shown.length) this.body.lastChild.remove();
    shown.forEach((row, y) => {
      const tr = this.body.rows[y] || this.body.appendChild(h("tr", {}, this.columns.map((column) => h("td", {class: column.class}))));
      row.cells.forEach((cell, x) => this.put(tr.cells[x], cell));
    });
  }
  put(td, cell) {
    const given = cell !== null && typeof cell === "object" && !(cell instanceof Node) ? cell : cell instanceof Node ? {node: cell} : {text: cell};
    if (given.node) {
      if (td.dataset.key === undefined || td.dataset.key !== given.key) td.replaceChildren(given.node);
      if (given.key !== undefined) td.dataset.key = given.key;
      return;
    }
    const text = given.text === null || given.text === undefined ? "" : String(given.text);
    const key = `${given.href || ""}\n${given.class || ""}\n${given.title || ""}\n${text}`;
    if (td.dataset.key === key) return;
    td.dataset.key = key;
    const attributes = {class: given.class, title: given.title ? visible(given.title) : null};
    td.replaceChildren(given.href ? h("a", {...attributes, href: given.href}, text) : h("span", attributes, text));
  }
}

// ---- numbers

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const num = (value) => (isNumber(value) ? value : 0);
function figure(value, digits = 3) {
  if (!isNumber(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(1);
  return String(Number(value.toPrecision(Math.max(digits, Math.abs(value) >= 1000 ? 6 : digits))));
}
const count = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en-US").replaceAll(",", "\u202f").replaceAll("\u202f", " ") : "–");
const percent = (value) => (isNumber(value) ? `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %` : "–");
const times = (value) => (isNumber(value) ? `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)}×` : "–");
function seconds(value) {
  if (!isNumber(value)) return "–";
  if (value === 0) return "0";
  if (value < 1e-3) return `${figure(value * 1e6, 2)} µs`;
  if (value < 1) return `${figure(value * 1e3, 3)} ms`;
  if (value < 120) return `${figure(value, 3)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
}
function bytes(value) {
  if (!isNumber(value)) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (value >= 1000 && at + 1 < units.length) { value /= 1000; ++at; }
  return `${figure(value, 3)} ${units[at]}`;
}
const date = (value) => (isNumber(value) && Math.abs(value) < 8e12 ? new Date(value * 1000).toISOString().slice(0, 19).replace("T", " ") : "–");
const counted = (value, unit) => `${count(value)} ${unit}${value === 1 ? "" : "s"}`; // "1 turn", "2 turns"
const sum = (values) => values.reduce((a, b) => a + num(b), 0);
const entries = (map) => (map && typeof map === "object" && !Array.isArray(map) ? Object.entries(map) : []);
const list = (value) => (Array.isArray(value) ? value : []);

let OUTCOMES = []; // [{name, meaning}] of /api/about, best first
const outcomePlace = (outcome) => OUTCOMES.findIndex((one) => one.name === outcome);
/** style.css has a colour for each outcome of this version. The class "outcome" alone is grey, for outcomes of a newer server. */
const outcomeClass = (outcome) => (outcomePlace(outcome) < 0 ? "outcome" : `outcome o-${outcome}`);
const outcomeName = (outcome) => String(outcome).replaceAll("_", " ");

const STAGES = ["queue", "build", "wait", "prepare", "load", "check", "measure", "second_look", "", "total"];
const stagePlace = (name) => (STAGES.indexOf(name) < 0 ? STAGES.indexOf("") : STAGES.indexOf(name));
const byStage = (map) => entries(map).sort((a, b) => stagePlace(a[0]) - stagePlace(b[0]));
const stageName = (name) => (name === "second_look" ? "confirmation run" : outcomeName(name));

// ---- drawings

function swatch(outcome) {
  return s("svg", {width: 10, height: 10, viewBox: "0 0 10 10", "aria-hidden": "true"}, s("rect", {width: 10, height: 10, rx: 2.5, class: outcomeClass(outcome)}));
}
const badge = (outcome) => h("span", {class: "badge"}, swatch(outcome), outcomeName(outcome));

/** Outcomes as parts of a bar. */
function outcomeBar(outcomes, width, height) {
  const counts = entries(outcomes).filter(([, n]) => num(n) > 0);
  counts.sort((a, b) => (outcomePlace(a[0]) + 1 || 99) - (outcomePlace(b[0]) + 1 || 99));
  const total = sum(counts.map(([, n]) => n));
  const said = counts.map(([name, n]) => `${outcomeName(name)} ${count(n)}`).join(", ");
  const bar = s("svg", {width: "100%", height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": visible(said || "no outcomes")},
    s("title", {}, said));
  let x = 0;
  for (const [name, n] of counts) {
    const part = (width * n) / total;
    bar.append(s("rect", {x: x.toFixed(2), y: 0, width: Math.max(part - 0.4, 0.3).toFixed(2), height, class: outcomeClass(name)}));
    x += part;
  }
  return bar;
}

/** A speedup with its interval, on a logarithmic scale with the baseline at 1. */
function interval(speedup) {
  const [width, height, pad] = [300, 34, 14];
  const low = Math.min(0.5, num(speedup.low) || speedup.value, speedup.value);
  const high = Math.max(2, num(speedup.high), speedup.value);
  const x = (value) => pad + ((width - 2 * pad) * Math.log(Math.max(value, 1e-9) / low)) / Math.log(high / low);
  const said = `speedup ${times(speedup.value)}, 95 % interval ${times(speedup.low)} to ${times(speedup.high)}`;
  return s("svg", {width: "100%", height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said},
    s("title", {}, said),
    s("line", {x1: pad, x2: width - pad, y1: 12, y2: 12, class: "axis"}),
    s("line", {x1: x(1), x2: x(1), y1: 3, y2: 21, class: "base"}),
    s("text", {x: x(1), y: 32, class: "label", "text-anchor": "middle"}, "1×"),
    s("line", {x1: x(num(speedup.low)), x2: x(num(speedup.high)), y1: 12, y2: 12, class: "range"}),
    ["low", "high"].map((end) => s("line", {x1: x(num(speedup[end])), x2: x(num(speedup[end])), y1: 7, y2: 17, class: "range"})),
    s("circle", {cx: x(speedup.value), cy: 12, r: 4.5, class: "dot"}));
}

function sparkline(values, width, height) {
  const top = Math.max(...values, 1e-9);
  const x = (i) => (width * i) / Math.max(values.length - 1, 1);
  const y = (value) => height - 2 - ((height - 5) * value) / top;
  const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return s("svg", {width: "100%", height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `the last ${values.length} values`},
    s("line", {x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "axis"}),
    values.length > 1 ? [s("polygon", {points: `0,${height} ${points} ${width},${height}`, class: "area"}), s("polyline", {points, class: "trace"})] : null);
}

/** Cumulative buckets {bound: count} as bars. Values above the last bound are in one more bar. */
function histogram(of) {
  const cumulative = entries(of && of.buckets).map(([bound, n]) => [Number(bound), num(n)]).sort((a, b) => a[0] - b[0]);
  const bars = cumulative.map(([bound, n], i) => [bound, n - (i ? cumulative[i - 1][1] : 0)]);
  const rest = num(of && of.count) - (cumulative.length ? cumulative.at(-1)[1] : 0);
  bars.push([Infinity, rest]);
  const top = Math.max(...bars.map(([, n]) => n), 1);
  const [step, height] = [12, 26];
  const said = bars.filter(([, n]) => n > 0).map(([bound, n]) => `${bound === Infinity ? "more" : `up to ${bound}`}: ${n}`).join(", ");
  return s("svg", {width: step * bars.length, height, viewBox: `0 0 ${step * bars.length} ${height}`, role: "img", "aria-label": said || "no values"},
    s("title", {}, said || "no values"),
    s("line", {x1: 0, x2: step * bars.length, y1: height - 0.5, y2: height - 0.5, class: "axis"}),
    bars.map(([bound, n], i) => s("rect", {x: i * step + 1, y: (height - 1 - ((height - 2) * n) / top).toFixed(1), width: step - 2,
      height: (((height - 2) * n) / top).toFixed(1), class: bound <= 1 ? "bar low" : "bar"})));
}

/** [[bound, count]] of a histogram's cumulative buckets, in rising order. */
const sortedBuckets = (of) => entries(of.buckets).map(([bound, n]) => [Number(bound), num(n)]).sort((a, b) => a[0] - b[0]);

/** The upper bound of the bucket in which a quantile lies. */
function quantile(of, q) {
  const total = num(of && of.count);
  if (!total) return null;
  const cumulative = sortedBuckets(of);
  for (const [bound, n] of cumulative) if (n >= q * total) return bound;
  return cumulative.length ? cumulative.at(-1)[0] : null;
}
const mean = (of) => (of && num(of.count) > 0 ? num(of.sum) / of.count : null);
const geometricMean = (of) => (of && num(of.count) > 0 && isNumber(of.log_sum) ? Math.exp(of.log_sum / of.count) : null);

// ---- differences of texts

const DIFF_STEPS = 600; // different lines; beyond, all lines are shown as replaced

/** [[" ", line], ["-", line], ["+", line]]: the shortest way from `a` to `b` (Myers). */
function diffLines(a, b) {
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const middle = diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...a.slice(0, start).map((line) => [" ", line]), ...middle, ...a.slice(a.length - end).map((line) => [" ", line])];
}
function diffMiddle(a, b) {
  const replaced = [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
  if (!a.length || !b.length) return replaced;
  const most = Math.min(a.length + b.length, DIFF_STEPS);
  const reach = new Map([[1, 0]]);
  const trace = [];
  for (let d = 0; d <= most; ++d) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1)) ? reach.get(k + 1) ?? 0 : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) { ++x; ++y; }
      reach.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(trace, a, b, d);
    }
  }
  return replaced;
}
function walkBack(trace, a, b, d) {
  const path = [];
  let x = a.length, y = b.length;
  for (; d > 0; --d) {
    const reach = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const fromX = reach.get(from) ?? 0, fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) { path.push([" ", a[--x]]); --y; }
    if (down) path.push(["+", b[--y]]); else path.push(["-", a[--x]]);
  }
  while (x > 0 && y > 0) { path.push([" ", a[--x]]); --y; }
  return path.reverse();
}

const CONTEXT = 3, ROWS_MAX = 3000;

/** Lines of code. `changes`: fold what did not change. */
function codeBlock(rows, changes) {
  const inner = h("div", {class: "rows"});
  let [left, right] = [0, 0];
  const numbered = rows.map(([sign, text]) => {
    if (sign !== "+") ++left;
    if (sign !== "-") ++right;
    return {sign, text, number: sign === "-" ? left : right};
  });
  const line = (row) => h("div", {class: row.sign === "+" ? "ln add" : row.sign === "-" ? "ln del" : "ln"},
    h("i", {}, row.number), changes ? h("s", {}, row.sign) : null, h("span", {}, row.text));
  const fold = (from, to, what) => {
    const button = h("button", {type: "button", class: "fold", click: () => button.replaceWith(...numbered.slice(from, to).map(line))}, what);
    return button;
  };
  const near = numbered.map(() => !changes);
  if (changes) {
    numbered.forEach((row, i) => {
      if (row.sign === " ") return;
      for (let j = Math.max(0, i - CONTEXT); j <= Math.min(numbered.length - 1, i + CONTEXT); ++j) near[j] = true;
    });
  }
  let shown = 0;
  for (let i = 0; i < numbered.length;) {
    if (shown >= ROWS_MAX) { inner.append(fold(i, numbered.length, `… ${counted(numbered.length - i, "more line")}`)); break; }
    if (near[i]) { inner.append(line(numbered[i++])); ++shown; continue; }
    let end = i;
    while (end < numbered.length && !near[end]) ++end;
    inner.append(fold(i, end, `… ${counted(end - i, "unchanged line")}`));
    i = end;
  }
  return h("div", {class: "code", tabindex: 0, role: "region", "aria-label": changes ? "difference to the turn before" : "code"}, inner);
}

/** The text of an action to read and to compare: its code, the last code block of a response, or its choices. */
function codeOf(action) {
  if (!action || typeof action !== "object") return String(action ?? "");
  if (typeof action.code === "string") return action.code;
  if (typeof action.response === "string") {
    const parts = action.response.split(/^```[^\n]*$/m);
    return parts.length > 2 ? parts[parts.length % 2 ? parts.length - 2 : parts.length - 1].replace(/^\n|\n$/g, "") : action.response;
  }
  return JSON.stringify(action, null, 2);
}

// ---- requests

class Failure extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

async function get(path, headers) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), 60000);
  try {
    let reply;
    try {
      reply = await fetch(path, {headers: headers || {}, signal: abort.signal, credentials: "same-origin"});
    } catch {
      throw new Failure(0, "hone does not answer; it has ended, or the network is down");
    }
    let body = null;
    try { body = await reply.json(); } catch { body = null; }
    if (!reply.ok) throw new Failure(reply.status, body && typeof body.detail === "string" ? body.detail : `HTTP status ${reply.status}`);
    return body;
  } finally {
    clearTimeout(timer);
  }
}

const notice = () => document.getElementById("notice");
function complain(error) {
  if (error && error.status === 401) return askForToken();
  setText(notice(), error ? error.message : "");
  notice().hidden = !error;
}

// ---- journals

/** A path of the API, with the parameters that have a value. */
function api(path, query) {
  const given = Object.entries(query).filter(([, value]) => value);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** A control that chooses one of several journals; null if there is only one. */
function journalChoice(name, said, chosen, changed) {
  if (list(about.journals).length < 2) return null;
  const select = h("select", {name, id: name}, about.journals.map((one) => h("option", {value: one}, cut(one, 40))));
  select.value = chosen || about.journals[0]; // An unknown journal selects nothing; the API replies with an error.
  select.addEventListener("change", () => changed(select.value));
  return h("label", {}, said, select);
}

// ---- means over time

/** About five round numbers from `low` to `high`. */
function roundMarks(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 5));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => high - low <= 5.5 * one);
  const marks = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; ++i) marks.push(Number((i * step).toPrecision(6)));
  return marks;
}

/** One mean of each interval of time. `logarithmic`: a speedup, with the baseline at 1. */
function overTime(intervals, key, said, logarithmic) {
  const points = intervals.filter((one) => isNumber(one[key]) && (!logarithmic || one[key] > 0));
  if (!points.length) return h("div", {}, h("h3", {}, said), h("p", {class: "empty"}, "No value yet."));
  const text = logarithmic ? times : figure;
  const [width, height, left, bottom] = [Math.max(300, Math.min(560, innerWidth - 60)), 190, 56, 164];
  const values = points.map((one) => one[key]), [least, most] = [Math.min(...values), Math.max(...values)];
  let [low, high] = logarithmic ? [Math.min(0.8, least / 1.05), Math.max(1.3, most * 1.05)] : [Math.min(0, least), Math.max(0, most)];
  if (high - low < 1e-9) high = low + 1;
  const scale = logarithmic ? scaleOf(low, high) : null;
  // The axis begins and ends at a mark, so that the values of the lowest and the highest point can be read.
  if (scale) [low, high] = [scale.filter((mark) => mark <= low).at(-1) ?? low, scale.find((mark) => mark >= high) ?? high];
  const [begin, end] = [intervals[0].from, intervals.at(-1).to];
  const x = (one) => left + 8 + ((width - left - 16) * ((one.from + one.to) / 2 - begin)) / (end - begin);
  const part = logarithmic ? (value) => Math.log(value / low) / Math.log(high / low) : (value) => (value - low) / (high - low);
  const y = (value) => bottom - 6 - (bottom - 16) * part(value);
  const marks = scale ? scale.filter((mark) => mark >= low && mark <= high) : roundMarks(low, high);
  const label = (at, from, words, anchor) => s("text", {x: from, y: at, class: "label", "text-anchor": anchor}, words);
  const summary = `${said} over time: ${counted(points.length, "interval")}, first ${text(values[0])}, last ${text(values.at(-1))}, lowest ${text(least)}, highest ${text(most)}`;
  return h("div", {}, h("h3", {}, said), s("svg", {class: "course", width: "100%", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": summary},
    marks.map((mark) => [s("line", {x1: left, x2: width, y1: y(mark).toFixed(1), y2: y(mark).toFixed(1), class: mark === (logarithmic ? 1 : 0) ? "base" : "axis"}), label(y(mark) + 4, left - 6, logarithmic ? `${mark}×` : figure(mark), "end")]),
    points.length > 1 ? s("polyline", {points: points.map((one) => `${x(one).toFixed(1)},${y(one[key]).toFixed(1)}`).join(" "), class: "trace"}) : null,
    points.map((one) => s("circle", {cx: x(one).toFixed(1), cy: y(one[key]).toFixed(1), r: 3, class: "dot"}, s("title", {}, `${date(one.from)}: ${text(one[key])}, ${counted(one.attempts, "attempt")}`))),
    label(height - 6, left, date(begin), "start"), label(height - 6, width - 2, date(end), "end")));
}

const OVER_TIME_MS = 2000; // the API caches the reply for at least this time

/** Mean speedup and mean reward over time, of all tasks or of the one in the address. Its requests do not delay those of the view. */
function overTimeCard(view, query) {
  if (about.journal === null) return {node: null, refresh: () => {}};
  const [task, journal] = [query.get("task") || "", query.get("journal") || ""];
  const select = h("select", {name: "task", id: "over_time_task"});
  const offer = (names) => {
    const all = task && !names.includes(task) ? [task, ...names] : names;
    select.replaceChildren(h("option", {value: ""}, "All tasks"), ...all.map((one) => h("option", {value: one}, cut(one, 80))));
    select.value = task;
  };
  offer([]);
  select.addEventListener("change", () => { location.hash = link(view, {...Object.fromEntries(query), task: select.value}); });
  const said = h("p", {class: "dim", role: "status"}, "hone reads the journal …"), drawn = h("div", {class: "grid"});
  let due = 0, shown = "", named = false, intervals = [], table = null;
  const values = h("details", {toggle: showValues}, h("summary", {}, "Values"));
  const node = h("section", {class: "card", id: "over_time"}, h("h2", {}, "Speedup and reward over time"),
    h("form", {class: "filter", submit: (event) => event.preventDefault()}, h("label", {}, "Task", select)), said, drawn, values,
    h("p", {class: "dim"}, "A point is the mean of the turns of one interval: the geometric mean of the speedups of correct turns, and the mean of the rewards of scored turns."));
  function showValues() {
    if (!values.open) return;
    if (!table) {
      table = new Table([{name: "From (UTC)"}, {name: "Attempts", class: "r"}, {name: "Success", class: "r far"}, {name: "Mean speedup", class: "r"}, {name: "Mean reward", class: "r"}]);
      values.append(table.node);
    }
    table.update([...intervals].reverse().map((one) => ({cells: [date(one.from), count(one.attempts), percent(one.success), times(one.speedup_mean), figure(one.reward_mean)]})));
  }
  function show(reply) {
    const now = JSON.stringify([reply.intervals, reply.unscored]);
    if (now === shown) return;
    shown = now;
    intervals = list(reply.intervals);
    const unscored = num(reply.unscored) ? ` ${counted(reply.unscored, "unscored turn")} ${reply.unscored === 1 ? "is" : "are"} left out.` : "";
    setText(said, (intervals.length ? `${counted(sum(intervals.map((one) => one.attempts)), "attempt")} in intervals of ${seconds(intervals[0].to - intervals[0].from)}.` : `No scored turn${task ? ` of ${cut(task, 80)}` : ""} yet.`) + unscored);
    drawn.replaceChildren(...(intervals.length ? [overTime(intervals, "speedup_mean", "Mean speedup", true), overTime(intervals, "reward_mean", "Mean reward", false)] : []));
    showValues();
  }
  async function refresh() {
    const began = performance.now();
    if (began < due) return;
    due = Infinity;
    let failed = false;
    try {
      show(await get(api("/api/over_time", {task, journal})));
      if (!named) offer(list((await get(api("/api/names", {journal}))).tasks));
      named = true;
    } catch (error) {
      failed = true; // ask again soon: if a long read was cancelled, the next request continues it
      setText(said, error.message);
      shown = "";
      if (!(error instanceof Failure)) console.error(error);
    }
    due = performance.now() + (failed ? OVER_TIME_MS : Math.max(OVER_TIME_MS, 9 * (performance.now() - began)));
  }
  return {node, refresh};
}

// ---- the live view

const live = {samples: [], times: [], incarnation: ""}; // of this page, also while another view is shown
const WINDOW_S = 300, TIMES_EVERY_S = 10; // of p50, p99 and means; between two of their samples

function record(reply) {
  const evaluator = (reply.metrics.service || {}).evaluator || {};
  // A clock that was set back also begins a new history.
  const isBack = live.samples.length && reply.at < live.samples.at(-1).at;
  if (isBack || live.incarnation !== reply.health.incarnation) [live.samples, live.times] = [[], []];
  live.incarnation = reply.health.incarnation;
  const done = sum(entries(evaluator.evaluations).map(([, n]) => n)) + sum(entries(evaluator.faults).map(([, n]) => n));
  const busy = Object.fromEntries(entries(evaluator.by_device).map(([device, of]) => [device, num(of.busy_s)]));
  live.samples.push({at: reply.at, done, busy});
  while (live.samples.length > 301 || reply.at - live.samples[0].at > 300) live.samples.shift();
  if (!live.times.length || reply.at - live.times.at(-1).at >= TIMES_EVERY_S) {
    live.times.push({at: reply.at, stages: evaluator.stage_ms || {}, requests: reply.metrics.request_seconds || {}});
  }
  while (live.times.length > 1 && reply.at - live.times[0].at > WINDOW_S) live.times.shift();
}

/** The values that a histogram has got since an earlier state of it. Its cumulative buckets {bound: count} have only bounds with values. */
function grown(now, before) {
  if (!before) return now;
  const earlier = sortedBuckets(before), buckets = {};
  let at = 0, less = 0;
  for (const [bound, n] of sortedBuckets(now)) {
    while (at < earlier.length && earlier[at][0] <= bound) less = earlier[at++][1];
    buckets[bound] = Math.max(n - less, 0);
  }
  return {count: Math.max(num(now.count) - num(before.count), 0), sum: num(now.sum) - num(before.sum), buckets};
}

/** The earlier state of all histograms, {stages, requests}, and its name. An empty one: the start of the server. */
function windowOf(reply) {
  const first = live.times[0], length = reply.at - first.at;
  if (num(reply.health.uptime_s) <= WINDOW_S || length <= 0) return {stages: {}, requests: {}, said: "since the start of the server"};
  return {...first, said: `last ${length > WINDOW_S - 1.5 * TIMES_EVERY_S ? "5 min" : seconds(Math.round(length))}`};
}

/** Cells of a table: count, mean, p50 and p99 of one histogram in the window; as titles, since the start of the server. */
function timeCells(now, before, unit) {
  const part = grown(now, before), text = (value) => (value === null ? "–" : seconds(value * unit));
  return [(of) => count(of.count), (of) => text(mean(of)), (of) => text(quantile(of, 0.5)), (of) => text(quantile(of, 0.99))]
    .map((cell) => ({text: cell(part), title: `since the start: ${cell(now)}`}));
}

/** Growth per second of a figure of the samples over the last `span` seconds (default: finished evaluations). */
function rate(span, of = (sample) => sample.done) {
  const last = live.samples.at(-1);
  const first = live.samples.find((sample) => last.at - sample.at <= span);
  return first && last.at > first.at ? (of(last) - of(first)) / (last.at - first.at) : null;
}

/** The busy share of each device in the last 10 s, as the mean over its lanes: "0: 83 % busy, 1: 79 % busy". */
function occupancy(evaluator) {
  const devices = entries(evaluator.by_device);
  return devices.map(([device]) => {
    const share = rate(10, (sample) => num(sample.busy[device]));
    const text = `${share === null ? "–" : figure(100 * Math.min(share, 1), 2)} % busy`;
    return devices.length > 1 ? `${device}: ${text}` : text;
  }).join(", ");
}

function tile(name, wide) {
  const [value, note] = [h("div", {class: "value"}, "–"), h("div", {class: "note"})];
  const drawn = wide ? h("div") : null;
  return {node: h("div", {class: wide ? "tile wide" : "tile"}, h("div", {class: "name"}, name), value, drawn, note), drawn,
    set(text, more, look) { setText(value, text); setText(note, more || ""); value.className = `value ${look || ""}`; }};
}

function liveView(query) {
  const t = {rate: tile("Evaluations per second", true), status: tile("Server"), steps: tile("Steps done"), queue: tile("Queue"), flight: tile("Under way"),
    devices: tile("Devices"), reply: tile("Step p50"), slow: tile("Step p99"), episodes: tile("Episodes open"), faults: tile("Faults"), caught: tile("Cheats caught"), journal: tile("Journal")};
  const outcomes = h("div"), legend = h("ul", {class: "legend"});
  const stages = new Table([{name: "Stage"}, {name: "Count", class: "r"}, {name: "Mean", class: "r"}, {name: "p50 ≤", class: "r"}, {name: "p99 ≤", class: "r"}], {empty: "No evaluation yet."});
  const verbs = new Table([{name: "Request"}, {name: "Count", class: "r"}, {name: "Mean", class: "r"}, {name: "p50 ≤", class: "r"}, {name: "p99 ≤", class: "r"}]);
  const tasks = new Table([{name: "Task", key: (d) => d.task, text: true}, {name: "Turns", class: "r", key: (d) => d.turns}, {name: "Mean reward", class: "r", key: (d) => d.reward},
    {name: "Rewards", class: "far"}, {name: "Timed", class: "r", key: (d) => d.timed}, {name: "Mean speedup", class: "r", key: (d) => d.speedup}, {name: "Speedups", class: "far"},
    {name: "Unscored", class: "r far", key: (d) => d.unscored}], {sort: [1, -1], empty: "No finished turn yet."});
  const clients = new Table([{name: "Client"}, {name: "Judged", class: "r"}, {name: "Unscored", class: "r"}, {name: "Caught", class: "r"}, {name: "Classes of cheating"}], {empty: "No client yet."});
  const faults = new Table([{name: "Error"}, {name: "Count", class: "r"}], {empty: "Every evaluation had a verdict."});
  const problems = h("div", {}), course = overTimeCard("live", query), windows = [h("span", {class: "dim window"}), h("span", {class: "dim window"})];
  const node = h("div", {},
    h("h1", {}, "Live"), problems,
    h("div", {class: "tiles"}, Object.values(t).map((one) => one.node)),
    h("section", {class: "card"}, h("h2", {}, "Outcomes since the start of the server"), outcomes, legend),
    h("div", {class: "grid"}, h("section", {class: "card"}, h("h2", {}, "Stages of an evaluation ", windows[0]), stages.node), h("section", {class: "card"}, h("h2", {}, "Requests ", windows[1]), verbs.node)),
    course.node, h("section", {class: "card"}, h("h2", {}, "Tasks"), tasks.node),
    h("div", {class: "grid"}, h("section", {class: "card"}, h("h2", {}, "Clients and caught cheats"), clients.node), h("section", {class: "card"}, h("h2", {}, "Evaluations without a verdict: faults, cancellations, deadlines"), faults.node)));

  function show(reply) {
    const {health, metrics} = reply;
    const service = metrics.service || {}, evaluator = service.evaluator || {}, steps = service.steps || {};
    record(reply);
    const now = rate(10);
    const rates = live.samples.slice(1).map((sample, i) => (sample.done - live.samples[i].done) / Math.max(sample.at - live.samples[i].at, 1e-3)).slice(-120);
    t.rate.set(now === null ? "–" : figure(now, 2), `over 10 s; ${figure(rate(60), 2)} over 1 min`);
    t.rate.drawn.replaceChildren(sparkline(rates, 300, 34));
    t.status.set(health.status, `up ${seconds(health.uptime_s)}`, health.status === "serving" ? "good" : "bad");
    t.steps.set(count(steps.done), counted(num(steps.tool_calls), "tool call"));
    t.queue.set(count(evaluator.queue), "wait for a builder");
    t.flight.set(count(evaluator.pending), evaluator.pending === 1 ? "submission" : "submissions");
    t.devices.set(`${count(num(evaluator.devices) - num(evaluator.devices_failing))} of ${count(evaluator.devices)}`,
      occupancy(evaluator), num(evaluator.devices_failing) ? "bad" : "");
    const recent = windowOf(reply), step = (metrics.request_seconds || {}).step || {}, part = grown(step, recent.requests.step);
    const atMost = (of, q) => (num(of.count) > 0 ? `≤ ${seconds(quantile(of, q))}` : "–");
    const since = (q) => (part === step ? recent.said : `${recent.said}; since the start ${atMost(step, q)}`);
    t.reply.set(atMost(part, 0.5), since(0.5));
    t.slow.set(atMost(part, 0.99), since(0.99));
    windows.forEach((one) => setText(one, recent.said));
    const episodes = service.episodes || {};
    t.episodes.set(count(episodes.open), counted(num(episodes.clients), "client"));
    const faultCount = sum(entries(evaluator.faults).map(([, n]) => n));
    t.faults.set(count(faultCount), `${counted(num(steps.unscored), "turn")} unscored`, faultCount ? "warn" : "");
    const classes = entries(evaluator.clients).flatMap(([, of]) => entries(of.caught).map(([, n]) => n));
    t.caught.set(count(sum(classes)), "all clients", sum(classes) ? "bad" : "");
    const journal = service.journal;
    t.journal.set(journal ? bytes(journal.bytes) : "none", journal ? `${counted(num(journal.waiting), "write")} waiting${num(journal.failures) ? `, ${count(journal.failures)} failed` : ""}` : "", journal && num(journal.failures) ? "bad" : "");
    problems.replaceChildren(...list(health.problems).map((one) => h("p", {class: "bad"}, one)));

    const all = entries(evaluator.evaluations).filter(([, n]) => num(n) > 0).sort((a, b) => b[1] - a[1]);
    const total = sum(all.map(([, n]) => n));
    outcomes.replaceChildren(total ? outcomeBar(evaluator.evaluations, 1000, 16) : h("p", {class: "empty"}, "No evaluation yet."));
    legend.replaceChildren(...all.map(([name, n]) => h("li", {}, swatch(name), outcomeName(name), " ", h("b", {}, count(n)), h("span", {class: "dim"}, percent(n / total)))));

    stages.update(byStage(evaluator.stage_ms).map(([name, of]) => ({cells: [stageName(name), ...timeCells(of, recent.stages[name], 1e-3)]})));
    verbs.update(entries(metrics.request_seconds).map(([name, of]) => ({cells: [name, ...timeCells(of, recent.requests[name], 1)]})));
    tasks.update(entries(service.tasks).filter(([, of]) => num((of.reward || {}).count) + num(of.unscored) > 0).map(([task, of]) => ({
      data: {task, turns: num((of.reward || {}).count) + num(of.unscored), reward: mean(of.reward), timed: num((of.speedup || {}).count), speedup: geometricMean(of.speedup), unscored: num(of.unscored)},
      cells: [{text: cut(task, 80), title: task, href: service.journal ? link("episodes", {task}) : null}, count(num((of.reward || {}).count) + num(of.unscored)), figure(mean(of.reward)),
        {node: histogram(of.reward), key: JSON.stringify(of.reward)}, count((of.speedup || {}).count), times(geometricMean(of.speedup)), {node: histogram(of.speedup), key: JSON.stringify(of.speedup)}, count(of.unscored)]})));
    clients.update(entries(evaluator.clients).sort((a, b) => num(b[1].judged) - num(a[1].judged)).slice(0, 200).map(([name, of]) => {
      const caught = entries(of.caught).sort((a, b) => b[1] - a[1]);
      return {cells: [{text: cut(name, 60), title: name}, count(of.judged), {text: count(of.unscored), class: of.often_unscored ? "bad" : ""},
        {text: count(sum(caught.map(([, n]) => n))), class: caught.length ? "bad" : ""}, caught.map(([what, n]) => `${what.replaceAll("_", " ")} ${n}`).join(", ")]};
    }));
    faults.update(entries(evaluator.faults).map(([code, n]) => ({cells: [code, count(n)]})));
  }
  return {node, title: "Live", refresh: async () => { course.refresh(); show(await get("/api/live")); }, every: 800};
}

// ---- tasks

function tasksView(query) {
  const journal = query.get("journal") || "";
  const P = ["1", "1.5", "2", "5"];
  const t = {tasks: tile("Tasks"), attempts: tile("Attempts"), success: tile("Success"), fast: tile("fast_1 of attempts"), best: tile("fast_1 of tasks"), speed: tile("Best speedup")};
  const left = h("p", {class: "dim"}), course = overTimeCard("tasks", query);
  const search = h("input", {type: "search", placeholder: "Part of a task's name", "aria-label": "Filter tasks", autocomplete: "off", spellcheck: "false", input: () => table.update(rows())});
  const table = new Table([{name: "Task", key: (d) => d.task, text: true}, {name: "Episodes", class: "r far", key: (d) => d.episodes}, {name: "Attempts", class: "r", key: (d) => d.attempts},
    {name: "Outcomes", class: "w far"}, {name: "Success", class: "r", key: (d) => d.success}, ...P.map((p, i) => ({name: `fast_${p}`, class: i ? "r far" : "r", key: (d) => (d.fast_p || {})[p]})),
    {name: "Best speedup", class: "r", key: (d) => d.best_speedup}, {name: "Mean reward", class: "r far", key: (d) => d.reward_mean}, {name: "Mean return", class: "r far", key: (d) => d.return_mean}, {name: "Over time"}], {sort: [2, -1], empty: "No task matches."});
  const range = (of) => (isNumber(of.best_low) && isNumber(of.best_high) ? `${times(of.best_low)} to ${times(of.best_high)}` : "");
  const bestSpeedup = (one) => ({node: h("span", {}, times(one.best_speedup), range(one) ? h("div", {class: "small far"}, range(one)) : null), key: `${one.best_speedup} ${range(one)}`});
  let reply = {tasks: []};
  const rows = () => list(reply.tasks).filter((one) => one.task.toLowerCase().includes(search.value.toLowerCase())).map((one) => ({data: one, cells: [
    {text: cut(one.task, 80), title: one.task, href: link("episodes", {task: one.task, journal})}, count(one.episodes), count(one.attempts),
    {node: outcomeBar(one.outcomes, 140, 12), key: JSON.stringify(one.outcomes)}, percent(one.success), ...P.map((p) => percent((one.fast_p || {})[p])), bestSpeedup(one), figure(one.reward_mean), figure(one.return_mean),
    {text: "curve", title: `Speedup and reward of ${one.task} over time`, href: link("tasks", {task: one.task, journal})}]}));
  const node = h("div", {}, h("h1", {}, "Tasks"), h("div", {class: "tiles"}, Object.values(t).map((one) => one.node)), course.node,
    h("section", {class: "card"}, h("form", {class: "filter", submit: (event) => event.preventDefault()}, journalChoice("journal", "Journal", journal, (one) => { location.hash = link("tasks", {journal: one}); }), h("label", {class: "grow"}, "Filter", search)), table.node, left,
      h("p", {class: "dim"}, "An attempt is a turn with a verdict. fast_p is the share of attempts that are correct and more than p times as fast as the baseline. The mean return is the mean over the ended episodes, counted from their first turn.")));
  async function refresh() {
    course.refresh();
    reply = await get(api("/api/tasks", {journal}));
    const all = reply.all || {};
    t.tasks.set(count(all.tasks));
    t.attempts.set(count(all.attempts), num(all.unscored) ? `${counted(all.unscored, "turn")} unscored` : "");
    t.success.set(percent(all.success), "of attempts are correct");
    t.fast.set(percent((all.fast_p || {})["1"]), "faster than the baseline");
    t.best.set(percent((all.best_fast_p || {})["1"]), "by their best attempt");
    t.speed.set(times(all.best_speedup), range(all));
    table.update(rows());
    setText(left, num(reply.left_out) ? `Tasks with fewer attempts are left out: ${count(reply.left_out)}.` : "");
  }
  return {node, title: "Tasks", refresh, every: 10000};
}

// ---- comparison

const MEASURES = [["reward_mean", "Mean reward", figure], ["return_mean", "Mean return", figure], ["success", "Success", percent], ["fast_1", "fast_1", percent], ["fast_2", "fast_2", percent],
  ["best_speedup", "Best speedup", times], ["speedup_mean", "Mean speedup", times]];
function measured(row, measure) {
  if (!row) return null;
  const value = measure.startsWith("fast_") ? (row.fast_p || {})[measure.slice(5)] : row[measure];
  return isNumber(value) ? value : null;
}

/** B minus A; for speedups, the ratio of B to A. null if one of them has no value. */
function difference(a, b, measure) {
  const [x, y] = [measured(a, measure), measured(b, measure)];
  if (x === null || y === null) return null;
  if (!measure.includes("speedup")) return y - x;
  return x > 0 && y > 0 ? y / x : null;
}
function differenceText(value, measure) {
  if (value === null) return "–";
  if (measure.includes("speedup")) return times(value);
  const shown = measure.endsWith("_mean") ? figure(Math.abs(value)) : `${(100 * Math.abs(value)).toFixed(1)} points`;
  return `${value < 0 ? "−" : value > 0 ? "+" : ""}${shown}`;
}

/** Two sets of episodes, A and B, each chosen by journal, client and reward, by task. */
function compareView(query) {
  const measure = MEASURES.some(([key]) => key === query.get("by")) ? query.get("by") : "reward_mean";
  const neutral = measure.includes("speedup") ? 1 : 0;
  const choose = (name, said, values, any) => {
    const chosen = query.get(name) || "";
    const shown = any && chosen && !values.some(([value]) => value === chosen) ? [[chosen, cut(chosen, 40)], ...values] : values;
    const select = h("select", {name, id: name}, any ? h("option", {value: ""}, any) : null, shown.map(([value, text]) => h("option", {value}, text)));
    select.value = name === "by" ? measure : chosen;
    select.addEventListener("change", () => { location.hash = link("compare", Object.fromEntries(new FormData(form))); });
    return h("label", {}, said, select);
  };
  const form = h("form", {class: "filter", submit: (event) => event.preventDefault()});
  const column = (measures) => measures.map(([key, name]) => ({name, class: key === measure ? "r" : "r far", key: (d) => measured(d.b, key)}));
  const table = new Table([{name: "Task", key: (d) => d.task, text: true}, {name: "Difference", class: "r", key: (d) => d.difference}, {name: "Set"},
    {name: "Episodes", class: "r far", key: (d) => num((d.b || {}).episodes)}, {name: "Attempts", class: "r", key: (d) => num((d.b || {}).attempts)}, ...column(MEASURES)], {sort: [1, -1], empty: "No task in either set."});
  const said = h("p", {class: "dim"}), left = h("p", {class: "dim"}), missing = h("p", {class: "warn"});
  const node = h("div", {}, h("h1", {}, "Compare"), form, h("section", {class: "card"}, said, missing, table.node, left,
    h("p", {class: "dim"}, "The upper line of a task is A, the lower B. The difference is B minus A; for speedups, it is the ratio of B to A. Shares are shares of attempts. The mean speedup is the geometric mean of correct attempts.")));
  const two = (a, b) => { const made = h("span", {}, h("span", {}, a), h("br"), h("span", {}, b)); return {node: made, key: `${a}\n${b}`}; };
  const journal = {a: query.get("a_journal") || "", b: query.get("b_journal") || list(about.journals)[1] || ""};
  async function choices(side) {
    const names = await get(api("/api/names", {journal: journal[side]}));
    const options = (values) => list(values).map((one) => [one, cut(one, 40)]);
    const which = `${side}_journal`, said = side.toUpperCase();
    return [journalChoice(which, `${said}: journal`, journal[side], () => { location.hash = link("compare", Object.fromEntries(new FormData(form))); }),
      choose(`${side}_client`, `${said}: client`, options(names.clients), "any"), choose(`${side}_reward`, `${said}: reward`, options(names.rewards), "any")];
  }
  async function refresh() {
    const wanted = (side) => api("/api/tasks", {journal: journal[side], client: query.get(`${side}_client`), reward: query.get(`${side}_reward`)});
    if (!form.hasChildNodes()) {
      const made = [...await choices("a"), ...await choices("b"), choose("by", "Difference of", MEASURES)];
      form.append(...made.filter((one) => one));
    }
    const replies = [await get(wanted("a")), await get(wanted("b"))];
    const [a, b] = replies.map((reply) => new Map(list(reply.tasks).map((one) => [one.task, one])));
    const tasks = [...new Set([...a.keys(), ...b.keys()])].map((task) => ({task, a: a.get(task), b: b.get(task), difference: difference(a.get(task), b.get(task), measure)}));
    const both = tasks.filter((one) => one.difference !== null);
    const better = both.filter((one) => one.difference > neutral).length, worse = both.filter((one) => one.difference < neutral).length;
    setText(said, `${counted(tasks.length, "task")}, ${count(both.length)} with a value in both sets.${better + worse ? ` B is higher in ${count(better)} and lower in ${count(worse)}.` : ""}`);
    setText(missing, ["a", "b"].map((side, i) => {
      const wanted = ["client", "reward"].filter((name) => query.get(`${side}_${name}`));
      return wanted.length && !list(replies[i].tasks).length ? `${side.toUpperCase()}: there is no episode of ${wanted.map((name) => `${name} ${cut(query.get(`${side}_${name}`), 60)}`).join(" and ")}. ` : "";
    }).join(""));
    table.update(tasks.map((one) => ({data: one, cells: [{text: cut(one.task, 80), title: one.task, href: link("episodes", {task: one.task, journal: one.b ? journal.b : journal.a})},
      {text: differenceText(one.difference, measure), class: one.difference === null || one.difference === neutral ? "" : one.difference > neutral ? "good" : "bad"}, two("A", "B"),
      two(count((one.a || {}).episodes), count((one.b || {}).episodes)), two(count((one.a || {}).attempts), count((one.b || {}).attempts)),
      ...MEASURES.map(([key, , text]) => two(text(measured(one.a, key)), text(measured(one.b, key))))]})));
    const out = replies.map((reply) => num(reply.left_out));
    setText(left, out[0] || out[1] ? `Tasks with fewer attempts are left out: ${count(out[0])} of A, ${count(out[1])} of B. A task that is left out of one set may still appear in the other.` : "");
  }
  return {node, title: "Compare", refresh, every: 10000};
}

// ---- episodes

function link(view, query) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

function episodesView(query) {
  const field = (name) => query.get(name) || "";
  const journal = field("journal");
  const choice = (name, said, values) => {
    const select = h("select", {name}, h("option", {value: ""}, "any"), values.map((one) => h("option", {value: one}, outcomeName(one))));
    select.value = field(name);
    select.addEventListener("change", () => form.requestSubmit());
    return h("label", {}, said, select);
  };
  const search = h("input", {type: "search", name: "search", id: "search", placeholder: "Task, client, group or name", value: field("search"), autocomplete: "off", spellcheck: "false", maxlength: 200});
  const form = h("form", {class: "filter", role: "search", submit: (event) => {
    event.preventDefault();
    const wanted = Object.fromEntries(new FormData(form));
    location.hash = link("episodes", {...wanted, task: field("task"), client: field("client"), group: field("group")});
  }}, journalChoice("journal", "Journal", journal, () => form.requestSubmit()), h("label", {class: "grow"}, "Search", search), choice("state", "State", ["open", "ended", "closed", "reaped"]), choice("outcome", "With outcome", OUTCOMES.map((one) => one.name)), h("button", {type: "submit"}, "Search"));
  const only = ["task", "client", "group"].filter((name) => field(name)).map((name) => {
    const rest = Object.fromEntries(query);
    delete rest[name];
    delete rest.after;
    return h("p", {}, `Only ${name} `, h("b", {}, cut(field(name), 100)), " · ", h("a", {href: link("episodes", rest)}, "all"));
  });
  const table = new Table([{name: "Episode"}, {name: "Task", class: "t"}, {name: "State", class: "far"}, {name: "Turns", class: "r"}, {name: "Best", class: "r"}, {name: "Last reward", class: "r far"},
    {name: "Client", class: "far"}, {name: "Group", class: "far"}, {name: "Changed (UTC)", class: "far"}], {empty: "No episode matches."});
  const pager = h("div", {class: "pager"});
  const node = h("div", {}, h("h1", {}, "Episodes"), form, only, h("section", {class: "card"}, table.node, pager));
  async function refresh() {
    const names = ["search", "task", "client", "group", "state", "outcome", "after"];
    const reply = await get(api("/api/episodes", {...Object.fromEntries(names.map((name) => [name, field(name)])), journal}));
    table.update(list(reply.episodes).map((one) => ({cells: [
      {text: one.episode, class: "mono", href: link(`episodes/${one.episode}`, {journal})}, {text: cut(one.task, 60), title: one.task}, {text: one.state, class: one.state === "damaged" ? "bad" : one.state === "open" ? "good" : ""},
      count(one.turns), times(one.best_speedup), figure(one.last_reward), {text: cut(one.client, 40), title: one.client}, {text: cut(one.group || "", 40), title: one.group || ""}, date(one.changed_at)]})));
    const rest = Object.fromEntries(query);
    const pages = [];
    if (field("after")) pages.push(h("a", {href: link("episodes", {...rest, after: ""})}, "← Newest"));
    if (reply.next) pages.push(h("a", {href: link("episodes", {...rest, after: reply.next})}, "Older →"));
    pager.replaceChildren(...pages);
  }
  return {node, title: "Episodes", refresh, every: 5000};
}

// ---- one episode

const SCALES = [[1.9, [0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4]], [6, [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6]],
  [200, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 64, 128]], [Infinity, [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 1e4]]];
const scaleOf = (low, high) => (SCALES.find(([most]) => high / low < most) || SCALES.at(-1))[1];

/** Speedups by turn. Turns without a speedup are crosses below the axis. */
function course(turns) {
  const timed = turns.filter((turn) => turn.verdict && turn.verdict.speedup && num(turn.verdict.speedup.value) > 0);
  if (!timed.length || turns.length < 2) return null;
  const rest = turns.filter((turn) => !timed.includes(turn));
  const [width, left, bottom] = [Math.max(300, Math.min(720, innerWidth - 50)), 76, 142];
  const crossed = bottom + 16, numbers = bottom + (rest.length ? 40 : 20), height = numbers + 6;
  const ends = timed.flatMap(({verdict}) => [verdict.speedup.value, num(verdict.speedup.low) || verdict.speedup.value, num(verdict.speedup.high) || verdict.speedup.value]);
  const low = Math.min(0.8, ...ends), top = Math.max(1.3, 1.1 * Math.max(...ends));
  const high = top / low < 6 ? top : Math.max(top, top / low < 90 ? 2.2 : 11); // so that at least one mark is above 1
  const x = (turn) => left + 20 + ((width - left - 40) * (turn - 1)) / Math.max(turns.at(-1).turn - 1, 1);
  const y = (value) => 8 + ((bottom - 16) * Math.log(high / value)) / Math.log(high / low);
  const marks = scaleOf(low, high).filter((mark) => mark >= low && mark <= high);
  const every = Math.ceil(turns.length / (width / 45));
  const label = (at, text, anchor, from) => s("text", {x: from, y: at, class: "label", "text-anchor": anchor}, text);
  const isWrong = (turn) => turn.verdict && turn.verdict.outcome !== "correct";
  return s("svg", {class: "course", width: "100%", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `speedups of ${counted(timed.length, "turn")}; ${counted(rest.length, "turn")} without a speedup`},
    marks.map((mark) => [s("line", {x1: left, x2: width, y1: y(mark), y2: y(mark), class: mark === 1 ? "base" : "axis"}), label(y(mark) + 4, `${mark}×`, "end", left - 6)]),
    s("line", {x1: left, x2: width, y1: bottom, y2: bottom, class: "base solid"}),
    turns.filter((_, i) => i % every === 0).map((turn) => label(numbers, String(turn.turn), "middle", x(turn.turn))),
    rest.length ? label(crossed + 4, rest.every(isWrong) ? "not correct" : "no speedup", "end", left - 6) : null,
    rest.map((turn) => {
      const at = x(turn.turn), outcome = turn.verdict ? turn.verdict.outcome : "unscored";
      return s("path", {d: `M${at - 4} ${crossed - 4}l8 8m0 -8l-8 8`, class: "cross"}, s("title", {}, `turn ${turn.turn}: ${outcomeName(outcome)}`));
    }),
    timed.map((turn) => {
      const {value, low: from, high: to} = turn.verdict.speedup;
      return [num(from) > 0 && num(to) > 0 ? s("line", {x1: x(turn.turn), x2: x(turn.turn), y1: y(from), y2: y(to), class: "range"}) : null,
        s("circle", {cx: x(turn.turn), cy: y(value), r: 4.5, class: "dot"}, s("title", {}, `turn ${turn.turn}: ${times(value)}`))];
    }));
}

const fold = (title, text, open) => (text ? h("details", {open: open ? true : null}, h("summary", {}, title), h("pre", {}, text)) : null);

function toolCall(call) {
  const tool = call.tool || "tool";
  return h("details", {}, h("summary", {}, `Tool ${cut(tool, 60)}${call.verdict ? `: ${outcomeName(call.verdict.outcome)}` : ""}`),
    call.action ? h("pre", {}, JSON.stringify(call.action, null, 2)) : null, call.feedback ? h("pre", {}, call.feedback) : null);
}

function turnView(turn, before, calls, linkTo, chosen) {
  const verdict = turn.verdict || null, speedup = verdict && verdict.speedup;
  const code = codeOf(turn.action), old = before ? codeOf(before.action) : null;
  const place = h("div");
  const lines = (text) => text.replace(/\n$/, "").split("\n");
  const buttons = [];
  const showCode = (changes) => {
    place.replaceChildren(codeBlock(changes ? diffLines(lines(old), lines(code)) : lines(code).map((line) => [" ", line]), changes));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String((i === 0) === changes)));
  };
  if (old !== null) {
    buttons.push(h("button", {type: "button", "aria-pressed": "true", click: () => showCode(true)}, `Changes since turn ${before.turn}`),
      h("button", {type: "button", "aria-pressed": "false", click: () => showCode(false)}, "Whole text"));
  }
  showCode(old !== null);
  const facts = [];
  if (turn.reward_valid === false) facts.push(h("span", {class: "bad"}, "no reward: a fault of hone or the machine"));
  else facts.push(h("span", {}, "reward ", h("b", {}, figure(turn.reward)), h("span", {class: "dim"}, ` · return to date ${figure(turn.return_to_date)}`)));
  const parts = entries(turn.components).filter(([, value]) => isNumber(value)).map(([key, value]) => `${key} ${figure(value)}`).join(" · ");
  const stages = byStage(verdict && verdict.stage_ms).filter(([, value]) => num(value) >= 0.1).map(([key, value]) => `${stageName(key)} ${seconds(value / 1e3)}`).join(" · ");
  return h("section", {class: chosen ? "card turn chosen" : "card turn", id: `turn-${turn.turn}`, tabindex: -1, "data-turn": turn.turn},
    h("h2", {}, h("a", {class: "name", href: linkTo(turn.turn), title: "Link to this turn"}, `Turn ${turn.turn}`),
      verdict ? badge(verdict.outcome) : h("span", {class: "badge bad"}, "unscored"), speedup ? h("span", {}, times(speedup.value)) : null,
      verdict && verdict.caught ? h("span", {class: "bad"}, `caught: ${outcomeName(verdict.caught)}`) : null, h("span", {class: "right"}, date(turn.at))),
    verdict && verdict.reason ? h("p", {}, verdict.reason) : null,
    speedup ? h("div", {class: "speed"}, interval(speedup), h("span", {class: "dim"}, `${times(speedup.low)} to ${times(speedup.high)} (95 %) · ${seconds(num(speedup.time_us) / 1e6)} per call, baseline ${seconds(num(speedup.baseline_us) / 1e6)}`),
      list(speedup.flags).length ? h("span", {class: "warn"}, list(speedup.flags).map(outcomeName).join(", ")) : null) : null,
    h("p", {}, facts, parts ? h("span", {class: "dim"}, ` · ${parts}`) : null),
    h("div", {class: "bar-of-code"}, h("h3", {}, turn.action && typeof turn.action.code !== "string" && typeof turn.action.response !== "string" ? "Action" : "Code"), buttons), place,
    turn.action && typeof turn.action.response === "string" && turn.action.response !== code ? fold("Whole response", turn.action.response) : null,
    calls.map(toolCall), fold("Feedback", turn.feedback, true), verdict ? fold("Compiler output", verdict.diagnostics) : null,
    stages ? h("p", {class: "dim"}, stages) : null, verdict ? fold("Verdict as JSON", JSON.stringify(verdict, null, 2)) : null);
}

function episodeView(name, query) {
  const journal = query.get("journal") || "";
  const node = h("div", {}, h("p", {class: "empty"}, "Loading …"));
  let shown = "";
  async function refresh() {
    const reply = await get(api(`/api/episodes/${encodeURIComponent(name)}`, {journal}));
    const now = JSON.stringify(reply);
    if (now === shown) return;
    const first = shown === "";
    shown = now;
    const turns = list(reply.turns), calls = list(reply.calls), reward = reply.reward || {};
    const fact = (said, value, href) => (value === null || value === undefined || value === "" ? null : h("li", {}, `${said} `, href ? h("a", {href}, cut(value, 80)) : h("b", {}, cut(value, 80))));
    const last = turns.at(-1);
    const chart = course(turns);
    const done = new Set();
    const callsOf = (turn) => calls.filter((call) => call.turn === turn && done.add(call));
    const sections = turns.map((turn, i) => turnView(turn, i ? turns[i - 1] : null, callsOf(turn.turn), (of) => link(`episodes/${name}`, {turn: of, journal}), String(turn.turn) === query.get("turn")));
    const open = calls.filter((call) => !done.has(call));
    const note = reply.prompt_note ? `The first prompt is not shown: ${reply.prompt_note}` : reply.prompt_lost ? "The first prompt is not shown, because the task has changed." : "";
    node.replaceChildren(h("div", {},
      h("section", {class: "card"}, h("h1", {}, cut(reply.task || "", 120)),
        h("ul", {class: "facts"}, fact("Episode", reply.episode), fact("State", reply.state), fact("Client", reply.client, link("episodes", {client: reply.client, journal})), reply.group ? fact("Group", reply.group, link("episodes", {group: reply.group, journal})) : null,
          fact("Backend", reply.backend), fact("Environment", reply.environment), fact("Reward", `${reward.name || ""} ${reward.version || ""}`), fact("Seed", reply.seed), fact("Opened", date(reply.opened_at)),
          reply.parent ? fact(`Branched after turn ${num(reply.parent_turn)} of`, reply.parent, link(`episodes/${reply.parent}`, {journal})) : null,
          last ? fact("Return to date", figure(last.return_to_date)) : null),
        chart, list(reply.returns).length ? h("p", {class: "dim"}, h("span", {class: "explained", title: "A return is a discounted sum of rewards: of this turn and later ones, or of all turns. The reward's parameters gamma, return and horizon define it."}, "Returns by turn"), `: ${list(reply.returns).map((one) => figure(one)).join(", ")}`) : null),
      note ? h("p", {class: "warn"}, note) : null,
      list(reply.prompt).length ? h("section", {class: "card"}, h("details", {}, h("summary", {}, `Prompt (${counted(list(reply.prompt).length, "message")})`),
        list(reply.prompt).map((message) => h("div", {class: "message"}, h("div", {class: "role"}, message.role), h("pre", {}, typeof message.content === "string" ? message.content : JSON.stringify(message.content, null, 2)))))) : null,
      sections, open.length ? h("section", {class: "card"}, h("h2", {}, "Turn that is open"), open.map(toolCall)) : null,
      turns.length ? null : h("p", {class: "empty"}, "No finished turn yet.")));
    const chosen = first && query.get("turn") ? node.querySelector(".chosen") : null;
    if (chosen) { chosen.scrollIntoView(); chosen.focus({preventScroll: true}); }
  }
  function failed() {
    if (shown === "") node.replaceChildren(h("h1", {}, `Episode ${cut(name, 40)}`), h("p", {class: "empty"}, "This episode cannot be shown. ", h("a", {href: link("episodes", {journal})}, "All episodes")));
  }
  return {node, title: `Episode ${name}`, refresh, failed, every: 5000};
}

// ---- the frame

let about = null, current = null, timer = 0;
let polling = null; // the view that is being refreshed

function askForToken() {
  clearTimeout(timer);
  current = null;
  const input = h("input", {type: "password", name: "token", autocomplete: "off", "aria-label": "Token"});
  const said = h("p", {class: "bad", role: "alert"});
  const form = h("form", {submit: async (event) => {
    event.preventDefault();
    try {
      await login(input.value.trim());
      start();
    } catch (error) {
      setText(said, error.status === 401 ? "This is not the token of this server." : error.message);
    }
  }}, input, h("button", {type: "submit"}, "Continue"));
  document.getElementById("main").replaceChildren(h("section", {class: "card login"}, h("h1", {}, "Token"), h("p", {class: "dim"}, "This server asks for the token in the file that web.token_file or --token-file names."), form, said));
  input.focus();
}

async function login(token) {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Failure(401, "malformed");
  await get("/api/login", {Authorization: `Bearer ${token}`});
}

function tabs() {
  const all = [];
  if (about.live) all.push(["live", "Live"]);
  if (about.journal !== null) all.push(["tasks", "Tasks"], ["episodes", "Episodes"], ["compare", "Compare"]);
  return all;
}

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, name] = path.split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  return {view: view || tabs()[0][0], name, query: new URLSearchParams(query || "")};
}

function viewOf({view, name, query}) {
  if (view === "live" && about.live) return liveView(query);
  if (view === "live") {
    return {node: h("div", {}, h("h1", {}, "No server"), h("p", {class: "empty"}, "This page shows a journal without a server. For live figures, start a server with its own page: hone serve --web PORT")), title: "No server"};
  }
  if ((view === "tasks" || view === "episodes" || view === "compare") && about.journal === null) {
    return {node: h("div", {}, h("h1", {}, "No episodes"), h("p", {class: "empty"}, about.no_episodes)), title: "No episodes"};
  }
  if (view === "tasks") return tasksView(query);
  if (view === "compare") return compareView(query);
  if (view === "episodes") return name ? episodeView(name, query) : episodesView(query);
  return {node: h("div", {}, h("h1", {}, "No such view"), h("p", {class: "empty"}, h("a", {href: "#/"}, "Go to the first one"))), title: "No such view"};
}

/** Refreshes a view again and again. A request that takes long is repeated less often: at most a tenth of the time is spent in it. */
async function poll(view) {
  if (view !== current || view === polling) return;
  polling = view;
  const began = performance.now();
  try {
    if (!document.hidden) {
      await view.refresh();
      if (view !== current) return;
      complain(null);
      document.documentElement.dataset.ready = view.title;
    }
  } catch (error) {
    if (view !== current) return;
    complain(error);
    if (view.failed) view.failed();
    if (!(error instanceof Failure)) console.error(error);
    if (error.status === 401) return;
    document.documentElement.dataset.ready = "error";
  } finally {
    if (view === polling) polling = null;
  }
  if (view.every) timer = setTimeout(() => poll(view), Math.max(view.every, 9 * (performance.now() - began)));
}

let searching = false; // whether the next view focuses its search field

function show() {
  if (!about) return;
  clearTimeout(timer);
  const at = route();
  const focused = document.activeElement && document.activeElement.id;
  current = viewOf(at);
  delete document.documentElement.dataset.ready;
  complain(null);
  document.title = `${visible(current.title)} · hone`;
  document.getElementById("main").replaceChildren(current.node);
  document.getElementById("tabs").replaceChildren(...tabs().map(([view, said]) => h("a", {href: `#/${view}`, "aria-current": view === at.view ? "page" : null}, said)));
  const wanted = searching ? "search" : focused;
  searching = false;
  if (wanted && document.getElementById(wanted)) document.getElementById(wanted).focus();
  else scrollTo(0, 0);
  if (current.refresh) poll(current); else document.documentElement.dataset.ready = current.title;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const tab = Number(event.key) - 1;
  if (about && tabs()[tab]) location.hash = `#/${tabs()[tab][0]}`;
  if (event.key === "/") {
    const field = document.querySelector("main input[type=search]");
    if (field) { event.preventDefault(); field.focus(); } else if (about && about.journal !== null) {
      event.preventDefault();
      searching = true;
      location.hash = "#/episodes";
    }
  }
  if (event.key === "j" || event.key === "k") {
    const turns = [...document.querySelectorAll("section.turn")];
    const at = turns.findIndex((turn) => turn.contains(document.activeElement));
    const next = turns[event.key === "j" ? at + 1 : at - 1];
    if (next) { next.focus({preventScroll: true}); next.scrollIntoView(); }
  }
}

async function start() {
  const asked = new URLSearchParams(location.search).get("token");
  if (location.search) history.replaceState(null, "", location.pathname + location.hash); // no token stays in the address
  try {
    if (asked) await login(asked);
    about = await get("/api/about");
    OUTCOMES = list(about.outcomes);
  } catch (error) {
    complain(error);
    if (error.status !== 401) timer = setTimeout(start, 2000);
    return;
  }
  setText(document.getElementById("source"), [...list(about.journals), `hone ${about.version}`].join(" · "));
  if (about.journal === null) document.getElementById("footer").replaceChildren(`No tasks and episodes: ${visible(about.no_episodes)}. Times are UTC.`);
  else document.getElementById("footer").replaceChildren("Keys: ", h("kbd", {}, "1"), " to ", h("kbd", {}, String(tabs().length)), " views, ", h("kbd", {}, "/"), " search, ", h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " next and previous turn. Times are UTC.");
  show();
}

addEventListener("hashchange", show);
addEventListener("keydown", onKey);
addEventListener("visibilitychange", () => { if (!document.hidden && current && current.refresh) { clearTimeout(timer); poll(current); } });
start();
