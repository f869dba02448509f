// The page of a model: input, table of scores, one sequence in detail. A worker computes; it has the model.
const MOST_DRAWN = 2000, ROWS = 100, BARS = 36, MOST_PEAKS = 20, MOST_WINDOWS = 5000, LISTED = 10;
const FORMULA = /^["\s\p{Z}\p{Cf}]*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff1d\uff0b\uff0d\uff20]/u;  // run by a spreadsheet
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const model = JSON.parse(byId("model").textContent);
const [negative, positive] = model.classes;
const letters = [...model.alphabet.letters];
const unit = positive ? "decision value" : "predicted number";

// text is only ever text: elements are made here, and nowhere from HTML
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}
const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

const count = (value) => value.toLocaleString("en");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const clean = (text) => text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
function number(value, signed = false) {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 || (size && size < 1e-4) ? value.toExponential(1) : value.toFixed(size && size < 0.01 ? 5 : 3);
  return (signed && Number(text) > 0 ? "+" : "") + (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}
const probable = (decision, probability) => (model.by_probability ? probability > 0.5 : decision > model.threshold);
const classOf = (decision, probability) => (Number.isNaN(decision) ? "–" : model.classes[+probable(decision, probability)]);
function verdict(decision, probability) {
  const known = positive && (!model.by_probability || !Number.isNaN(probability));
  return known ? `${number(decision)} (${classOf(decision, probability)})` : number(decision);
}

function table(caption, heads, rows) {
  const cell = (value, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: i && typeof value === "string" ? "num" : null }, value);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", { class: "dense" }, el("caption", {}, el("span", {}, caption)),
      el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i ? "num" : null }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell))))));
}

// The worker

const script = new Blob([byId("engine").textContent], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(script));
let jobs = 0;
function send(type, more) {
  jobs += 1;
  worker.postMessage({ type, job: jobs, ...more });
  return jobs;
}
const answers = {
  ready() {
    byId("go").disabled = false;
    byId("said").textContent = "Ready.";
  },
  error({ job, text }) {
    const own = job === one.job || job === one.scan;
    byId(own ? "trouble" : "failed").textContent = clean(text);
    if (!own) finish("Stopped.");
  },
  progress({ job, records, bytes, total }) {
    if (job !== found.job || !found.running) return;
    if (total && bytes <= total) byId("bar").value = bytes / total;
    else byId("bar").removeAttribute("value");  // of a packed file the size is not known
    byId("said").textContent = plural(records, "sequence");
  },
  rows: addRows,
  done({ job, records, remarks }) {
    if (job !== found.job || !found.running) return;
    byId("remarks").replaceChildren(...remarks.map((text) => el("li", {}, clean(text))));
    finish(records ? `${plural(records, "sequence")} scored.` : "There is no sequence in it.");
  },
  sequence({ job, sequence }) {
    if (job === found.job) show(found.ids[wanted], sequence);
  },
  explained: drawExplained,
  scanned: drawScan,
};
worker.addEventListener("message", ({ data }) => answers[data.type]?.(data));
worker.addEventListener("error", ({ message }) => answers.error({ text: `The page cannot compute: ${message}` }));
worker.postMessage({ type: "load", model });

// Input

let found = { job: 0, running: false, n: 0 };
function start(input) {
  if (found.running) worker.postMessage({ type: "cancel", job: found.job });
  found = { n: 0, ids: [], notes: new Map(), lengths: new Int32Array(1024), decisions: new Float64Array(1024),
    probabilities: new Float64Array(1024), counts: [0, 0, 0], order: null, key: null, falling: false, shown: ROWS, running: true };
  found.job = send("score", input);
  byId("failed").textContent = "";
  byId("remarks").replaceChildren();
  byId("results").hidden = true;
  byId("bar").hidden = byId("cancel").hidden = false;
  byId("bar").removeAttribute("value");
  byId("said").textContent = "Reading …";
}
function finish(text) {
  found.running = false;
  byId("bar").hidden = byId("cancel").hidden = true;
  byId("said").textContent = text;
  if (!found.n) return;
  byId("results").hidden = false;
  arrange();
  drawHistogram();
}
function read() {
  if (byId("text").value.trim()) start({ text: byId("text").value });
  else byId("said").textContent = "Paste a sequence first, or open a file.";
}
function open(file) {
  if (file) start({ file });
}
byId("go").addEventListener("click", read);
byId("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) read(); });
byId("file").addEventListener("change", ({ target }) => { open(target.files[0]); target.value = ""; });
byId("cancel").addEventListener("click", () => {
  worker.postMessage({ type: "cancel", job: found.job });
  finish(`Cancelled after ${plural(found.n, "sequence")}.`);
});
if (model.example) {
  byId("example").hidden = false;
  byId("example").addEventListener("click", () => { byId("text").value = model.example; read(); });
}
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  if (event.dataTransfer.files.length) event.preventDefault();
  open(event.dataTransfer.files[0]);
});
byId("drop").hidden = false;

// The table: typed arrays of all records; `order` has the rows that are shown, in their order

function longer(values, n) {
  if (n <= values.length) return values;
  const wider = new values.constructor(Math.max(n, 2 * values.length));
  wider.set(values);
  return wider;
}
function addRows({ job, ids, lengths, decisions, probabilities, notes }) {
  if (job !== found.job || !found.running) return;
  const before = found.n;
  found.n += ids.length;
  for (const [name, values] of Object.entries({ lengths, decisions, probabilities })) {
    if (values) (found[name] = longer(found[name], found.n)).set(values, before);
  }
  ids.forEach((id, i) => {
    found.ids.push(id);
    if (notes[i]) found.notes.set(before + i, notes[i]);
    found.counts[Number.isNaN(decisions[i]) ? 2 : +probable(decisions[i], probabilities?.[i])] += 1;
  });
}
function compare(key) {
  const { ids, decisions, probabilities } = found;
  const few = found.order.length <= 20000 ? new Intl.Collator("en", { numeric: true }) : null;
  if (key === "id") return few ? (a, b) => few.compare(ids[a], ids[b]) : (a, b) => (ids[a] < ids[b] ? -1 : ids[a] > ids[b]);
  if (key === "class") return (a, b) => probable(decisions[a], probabilities[a]) - probable(decisions[b], probabilities[b]);
  const values = { length: found.lengths, decision: decisions, probability: probabilities }[key];
  return (a, b) => values[a] - values[b];
}
function arrange() {
  const text = byId("contains").value.toLowerCase(), only = byId("only").value;
  const { n, ids, decisions, probabilities, key } = found;
  const kept = new Uint32Array(n);
  let size = 0;
  for (let i = 0; i < n; i += 1) {
    const kind = Number.isNaN(decisions[i]) ? 2 : +probable(decisions[i], probabilities[i]);
    if ((only === "" || kind === Number(only)) && (!text || ids[i].toLowerCase().includes(text))) kept[size++] = i;
  }
  found.order = kept.subarray(0, size);
  if (key) {
    const forward = compare(key), sign = found.falling ? -1 : 1;
    found.order.sort((a, b) => {
      const last = key === "id" || key === "length" ? 0 : Number.isNaN(decisions[a]) - Number.isNaN(decisions[b]);
      return last || sign * forward(a, b) || a - b;
    });
  }
  found.shown = ROWS;
  drawRows();
}
function drawRows() {
  const { order, shown, ids, lengths, decisions, probabilities, notes, counts, n } = found;
  byId("rows").replaceChildren(...Array.from(order.subarray(0, shown), (i) => {
    const name = el("button", { type: "button", class: "link" }, clean(ids[i]));
    const row = el("tr", { onclick: () => look(i) }, el("th", { scope: "row" }, name), el("td", { class: "num" }, count(lengths[i])));
    if (notes.has(i)) row.append(el("td", { class: "missing", colspan: 3 }, clean(notes.get(i))));
    else {
      row.append(el("td", { class: "num" }, number(decisions[i])));
      if (positive) row.append(el("td", {}, classOf(decisions[i], probabilities[i])));
      if (model.probabilities) row.append(el("td", { class: "num" }, number(probabilities[i])));
    }
    return row;
  }));
  byId("more").hidden = order.length <= shown;
  byId("matching").textContent = order.length < n || order.length > shown
    ? `${count(Math.min(shown, order.length))} of ${order.length < n ? `${count(order.length)} matching of ` : ""}${plural(n, "sequence")}` : "";
  const list = [[positive ?? "predicted", positive ? counts[1] : counts[0] + counts[1]], [negative, counts[0]], ["not scored", counts[2]]];
  byId("counts").replaceChildren(table("Counts", ["", "sequences"],
    list.filter(([name, some]) => name !== undefined && (some || name !== "not scored")).map(([name, some]) => [name, count(some)])));
}
const kinds = positive ? [[1, positive], [0, negative], [2, "not scored"]] : [[2, "not scored"]];
byId("only").append(...kinds.map(([value, name]) => el("option", { value }, name)));
byId("more").addEventListener("click", () => { found.shown += ROWS; drawRows(); });
byId("contains").addEventListener("input", arrange);
byId("only").addEventListener("change", arrange);
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => {
    const { key } = button.dataset, title = button.parentElement;
    found.falling = found.key === key ? !found.falling : title.classList.contains("num");
    found.key = key;
    title.parentElement.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    title.setAttribute("aria-sort", found.falling ? "descending" : "ascending");
    arrange();
  });
}
function drawHistogram() {
  const values = found.decisions.subarray(0, found.n).filter((value) => Number.isFinite(value));
  const ends = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const box = byId("histogram");
  box.replaceChildren();
  if (values.length < 2 || ends[0] === ends[1]) return;
  const width = (ends[1] - ends[0]) / BARS, cut = model.threshold;
  const inside = positive && !model.by_probability && cut > ends[0] && cut < ends[1];
  const first = inside ? cut - Math.ceil((cut - ends[0]) / width) * width : ends[0];  // the threshold is an edge
  const bars = new Uint32Array(BARS + 2);
  for (const value of values) bars[Math.max(0, Math.ceil((value - first) / width) - 1)] += 1;
  const most = Math.max(...bars), x = (value) => 10 + 380 * (value - first) / (width * (BARS + 1));
  const drawn = svg("svg", { viewBox: "0 0 400 130", role: "img", "aria-label": `Histogram of the ${unit}s` });
  bars.forEach((size, i) => {
    const at = first + i * width, side = positive && at >= cut - width / 2 ? "#0072b2" : "#d55e00";
    const height = size ? Math.max(1, 90 * size / most) : 0;
    drawn.append(svg("rect", { x: x(at), y: 100 - height, width: 9.3, height, fill: positive ? side : "#0072b2" },
      svg("title", {}, `${number(at)} to ${number(at + width)}: ${count(size)}`)));
  });
  drawn.append(svg("line", { x1: 8, x2: 392, y1: 100.5, y2: 100.5, stroke: "#1c1c1c" }));
  const label = (value, text, anchor, y) => svg("text", { x: x(value), y, "font-size": 11, "text-anchor": anchor, fill: "#1c1c1c" }, text);
  drawn.append(label(first, number(first), "start", 114), label(first + (BARS + 1) * width, number(first + (BARS + 1) * width), "end", 114));
  if (inside) drawn.append(svg("line", { x1: x(cut), x2: x(cut), y1: 4, y2: 104, stroke: "#1c1c1c", "stroke-dasharray": "4 3" }), label(cut, `threshold ${number(cut)}`, "middle", 126));
  box.append(drawn, el("figcaption", {}, `${unit[0].toUpperCase()}${unit.slice(1)}s of ${plural(values.length, "sequence")}`));
}

// Files: as `seqkern predict` writes them, with lengths; a spreadsheet runs nothing in them

function save(ending) {
  const safe = (text) => {
    const plain = text.replace(/\p{Cc}/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
    return FORMULA.test(plain) ? `'${plain}` : plain;
  };
  const quoted = (text) => (ending === "csv" && /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const digits = (value) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(10))));
  const { n, ids, lengths, decisions, probabilities, notes } = found;
  const columns = ["id", "length", "decision", ...(positive ? ["predicted"] : []), ...(model.probabilities ? ["probability"] : []), "note"];
  const lines = [columns.join(ending === "csv" ? "," : "\t")];
  for (let i = 0; i < n; i += 1) {
    const row = [quoted(safe(ids[i])), lengths[i], digits(decisions[i])];
    if (positive) row.push(notes.has(i) ? "" : quoted(safe(classOf(decisions[i], probabilities[i]))));
    if (model.probabilities) row.push(digits(probabilities[i]));
    lines.push([...row, quoted(safe(notes.get(i) ?? ""))].join(ending === "csv" ? "," : "\t"));
  }
  const link = el("a", { href: URL.createObjectURL(new Blob([lines.join("\n"), "\n"], { type: "text/plain" })), download: `predictions.${ending}` });
  link.click();
  URL.revokeObjectURL(link.href);
}
document.querySelectorAll("[data-table]").forEach((button) => button.addEventListener("click", () => save(button.dataset.table)));

// One sequence: its residues, changes of them, and windows along it

const [size, longest] = ["window", "longest"].map((name) => Number(byId("see").dataset[name]));
const residues = byId("residues");
let one = { job: -1, scan: -1, changes: [] };
let wanted = 0;
function look(record) {
  wanted = record;
  worker.postMessage({ type: "sequence", job: found.job, record });
}
function show(name, sequence) {
  one = { name, sequence, job: -1, scan: -1, changes: [], first: 0, at: 0 };
  byId("hint").hidden = true;
  byId("one").hidden = false;
  byId("explained").hidden = true;
  byId("undo").disabled = byId("restore").disabled = true;
  byId("scan").replaceChildren();
  byId("decided").textContent = "";
  byId("trouble").textContent = sequence === null ? "Too many residues were scored to keep this sequence; score it alone." : "";
  byId("name").textContent = clean(name);
  byId("name").focus();
  byId("see").scrollIntoView();
  if (sequence !== null) examine(sequence);
}
function examine(sequence) {
  const n = sequence.length, fixed = model.fixed_length;
  const long = n > (fixed ?? (2 * longest || Infinity));
  if (long) one.scan = send("scan", { sequence, window: size, step: Math.ceil((n - size + 1) / MOST_WINDOWS) });
  if (!(long && fixed) && n <= Math.max(MOST_DRAWN, 2 * longest)) one.job = send("explain", { sequence });
  else if (!long) byId("trouble").textContent = `Sequences of more than ${plural(MOST_DRAWN, "residue")} are only scored.`;
}
function say(decision, probability) {
  const { changes } = one, last = changes.at(-1), name = ({ at, from, letter }) => `${from}${at + 1}${letter}`;
  const now = `${unit[0].toUpperCase()}${unit.slice(1)} ${verdict(decision, probability)}`;
  const chance = Number.isNaN(probability ?? NaN) ? "" : `, probability of ${positive} ${number(probability)}`;
  const text = [last ? `${now}${chance} with ${name(last)}, ${verdict(last.decision, last.probability)} without it.` : `${now}${chance}.`];
  if (changes.length > 1) text.push(`All changes: ${changes.map(name).join(", ")}; original ${verdict(changes[0].decision, changes[0].probability)}.`);
  byId("decided").textContent = text.join(" ");
  byId("undo").disabled = byId("restore").disabled = !last;
}
function drawExplained(answer) {
  if (answer.job !== one.job) return;
  one.answer = answer;
  byId("explained").hidden = false;
  say(answer.decision, answer.probability ?? NaN);
  drawResidues();
  drawMap();
  const { sequence, decision, changes, words } = answer;
  const order = [...changes.keys()].filter((i) => !Number.isNaN(changes[i]));
  order.sort((a, b) => Math.abs(changes[b] - decision) - Math.abs(changes[a] - decision));
  byId("largest").replaceChildren(table("Largest changes", ["change", unit, "difference"], order.slice(0, LISTED).map((i) => {
    const at = Math.floor(i / letters.length), letter = letters[i % letters.length];
    const button = el("button", { type: "button", class: "link", onclick: () => change(at, letter) }, `${sequence[at]}${at + 1}${letter}`);
    return [button, number(changes[i]), number(changes[i] - decision, true)];
  })));
  byId("words").replaceChildren(...(words.length ? [table("K-mers of largest weight", ["k-mer", "position", "weight"],
    words.slice(0, LISTED).map(({ start, text, weight }) => [el("code", {}, text), count(start + 1), number(weight, true)]))] : []));
}
function drawResidues() {
  const { sequence, contributions } = one.answer, stop = Math.min(sequence.length, one.first + MOST_DRAWN);
  const most = contributions.reduce((large, value) => Math.max(large, Math.abs(value)), 0) || 1;
  const changed = new Set(one.changes.map(({ at }) => at)), boxes = [];
  for (let i = one.first; i < stop; i += 1) {
    const side = contributions[i] < 0 ? "negative" : "positive";
    boxes.push(el("span", { role: "option", id: `r${i}`, "data-at": i, "data-n": i % 10 === 9 || i === one.first ? i + 1 : null, "aria-selected": "false",
      class: changed.has(i) ? `${side} changed` : side, style: `--share: ${Math.abs(contributions[i] / most).toFixed(3)}`,
      "aria-label": `${i + 1}: ${sequence[i]}, ${number(contributions[i], true)}` }, sequence[i]));
  }
  residues.replaceChildren(...boxes);
  byId("next").hidden = sequence.length <= MOST_DRAWN;
  select(Math.min(Math.max(one.at, one.first), stop - 1), false);
}
function tell(at) {
  const { sequence, contributions, words } = one.answer;
  const over = words.filter(({ start, text }) => start <= at && at < start + text.length).slice(0, 3);
  const listed = over.map(({ start, text, weight }) => `${text} at ${count(start + 1)} (${number(weight, true)})`).join(", ");
  byId("residue").textContent = `Position ${count(at + 1)} of ${count(sequence.length)}: ${sequence[at]}, contribution ${number(contributions[at], true)}`
    + (listed && `; k-mers over it: ${listed}`);
}
function select(at, visible = true) {
  const box = byId(`r${at}`);
  if (!box) return;
  residues.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
  box.setAttribute("aria-selected", "true");
  residues.setAttribute("aria-activedescendant", box.id);
  one.at = at;
  byId("letters").hidden = true;
  if (visible) box.scrollIntoView({ block: "nearest" });
  tell(at);
}
function offer() {
  const { sequence, changes } = one.answer, { at } = one;
  byId("letters").replaceChildren("Change to ", ...letters.flatMap((letter, i) => (letter === sequence[at] ? [] : [el("button", {
    type: "button", disabled: Number.isNaN(changes[at * letters.length + i]), "aria-label": `${letter}: ${unit} ${number(changes[at * letters.length + i])}`,
    onclick: () => change(at, letter) }, el("b", {}, letter), ` ${number(changes[at * letters.length + i])}`)])));
  byId("letters").hidden = false;
}
function change(at, letter) {
  const { sequence, decision, probability, changes, job } = one.answer;
  if (job !== one.job) return;  // the one before is not drawn yet
  one.changes.push({ at, letter, from: sequence[at], sequence, decision, probability });
  one.at = at;
  renew(sequence.slice(0, at) + letter + sequence.slice(at + 1), changes[at * letters.length + letters.indexOf(letter)], NaN);
}
function renew(sequence, decision, probability) {
  say(decision, probability);
  byId("letters").hidden = true;
  one.job = send("explain", { sequence });
}
byId("undo").addEventListener("click", () => {
  const { sequence, decision, probability } = one.changes.pop();
  renew(sequence, decision, probability);
});
byId("restore").addEventListener("click", () => {
  const [{ sequence, decision, probability }] = one.changes.splice(0);
  renew(sequence, decision, probability);
});
byId("next").addEventListener("click", () => {
  one.first = one.first + MOST_DRAWN < one.answer.sequence.length ? one.first + MOST_DRAWN : 0;
  drawResidues();
  drawMap();
});
const placeOf = ({ target }) => target.closest("[data-at]")?.dataset.at;
residues.addEventListener("pointerover", (event) => { if (placeOf(event)) tell(Number(placeOf(event))); });
residues.addEventListener("pointerleave", () => tell(one.at));
residues.addEventListener("click", (event) => {
  if (!placeOf(event)) return;
  select(Number(placeOf(event)));
  offer();
});
residues.addEventListener("keydown", (event) => {
  const { sequence } = one.answer, last = Math.min(sequence.length, one.first + MOST_DRAWN) - 1;
  const to = { ArrowLeft: one.at - 1, ArrowRight: one.at + 1, ArrowUp: one.at - 10, ArrowDown: one.at + 10, Home: one.first, End: last }[event.key];
  if (to !== undefined) select(Math.min(last, Math.max(one.first, to)));
  else if (event.key === "Enter" || event.key === " ") {
    offer();
    byId("letters").querySelector("button:enabled")?.focus();
  } else return;
  event.preventDefault();
});
byId("letters").addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  byId("letters").hidden = true;
  residues.focus();
});

const canvas = byId("canvas"), HIGH = 14, LEFT = 18, TOP = 16;
const wide = () => (Math.min(MOST_DRAWN, one.answer.sequence.length) > 120 ? 6 : HIGH);
function drawMap() {
  const { sequence, decision, changes } = one.answer, n = Math.min(MOST_DRAWN, sequence.length - one.first), step = wide();
  const [width, height, ratio] = [LEFT + n * step + 20, TOP + letters.length * HIGH, Math.min(2, devicePixelRatio)];
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d"), ink = getComputedStyle(canvas).color;
  const most = changes.reduce((large, value) => Math.max(large, Math.abs(value - decision) || 0), 0) || 1;
  pen.scale(ratio, ratio);
  pen.font = "11px sans-serif";
  pen.fillStyle = ink;
  letters.forEach((letter, row) => pen.fillText(letter, 2, TOP + row * HIGH + 11));
  for (let i = 0; i < n; i += 1) {
    const at = one.first + i, x = LEFT + i * step;
    if (at % 10 === 9) pen.fillText(at + 1, x, 11);
    letters.forEach((letter, row) => {
      const value = changes[at * letters.length + row] - decision, y = TOP + row * HIGH;
      pen.fillStyle = value > 0 ? "#0072b2" : "#d55e00";
      pen.globalAlpha = Math.abs(value) / most || 0;
      pen.fillRect(x, y, step - 1, HIGH - 1);
      [pen.fillStyle, pen.globalAlpha] = [ink, 1];
      if (letter === sequence[at]) pen.fillRect(x + step / 2 - 2, y + 5, 3, 3);
    });
  }
}
function cellAt({ offsetX, offsetY }) {
  const at = one.first + Math.floor((offsetX - LEFT) / wide()), letter = letters[Math.floor((offsetY - TOP) / HIGH)];
  const value = at < one.first || !letter ? NaN : one.answer.changes[at * letters.length + letters.indexOf(letter)];
  return { at, letter, value: value ?? NaN };
}
canvas.addEventListener("pointermove", (event) => {
  const { at, letter, value } = cellAt(event), { sequence, decision } = one.answer;
  byId("cell").textContent = Number.isNaN(value) ? "" : `${sequence[at]}${at + 1}${letter}: ${unit} ${number(value)} (${number(value - decision, true)})`;
});
canvas.addEventListener("click", (event) => {
  const { at, letter, value } = cellAt(event);
  if (!Number.isNaN(value)) change(at, letter);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (one.answer) drawMap(); });

function drawScan({ job, starts, decisions, window }) {
  if (job !== one.scan) return;
  const { name, sequence } = one, cut = positive && !model.by_probability ? model.threshold : -Infinity;
  const order = [...decisions.keys()].filter((i) => decisions[i] > cut).sort((a, b) => decisions[b] - decisions[a]);
  const peaks = [];
  for (const i of order) {
    if (peaks.length < MOST_PEAKS && peaks.every((j) => Math.abs(starts[j] - starts[i]) >= window)) peaks.push(i);
  }
  const all = Number.isFinite(cut) ? [...decisions, cut] : [...decisions];
  const [low, high] = all.filter(Number.isFinite).reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const x = (i) => 50 + 740 * starts[i] / (sequence.length - window || 1), y = (value) => 130 - 115 * (value - low) / (high - low || 1);
  const path = Array.from(decisions, (value, i) => (Number.isNaN(value) ? "" : `${i && !Number.isNaN(decisions[i - 1]) ? "L" : "M"}${x(i).toFixed(1)},${y(value).toFixed(1)}`)).join("");
  const label = (at, height, text, anchor) => svg("text", { x: at, y: height, "font-size": 12, "text-anchor": anchor, fill: "#1c1c1c" }, text);
  const drawn = svg("svg", { viewBox: "0 0 800 160", role: "img", "aria-label": `${unit} of each window along the sequence` },
    svg("path", { d: path, fill: "none", stroke: "#0072b2", "stroke-width": 1.3 }), svg("path", { d: "M50,10V132H790", fill: "none", stroke: "#1c1c1c" }),
    ...peaks.map((i) => svg("circle", { cx: x(i), cy: y(decisions[i]), r: 3.5, fill: "#1c1c1c" })),
    label(46, y(high) + 4, number(high), "end"), label(46, y(low), number(low), "end"), label(50, 148, "1", "middle"), label(790, 148, count(sequence.length), "end"));
  if (Number.isFinite(cut)) drawn.append(svg("path", { d: `M50,${y(cut)}H790`, stroke: "#1c1c1c", "stroke-dasharray": "5 4" }), label(788, y(cut) - 4, "threshold", "end"));
  const rows = peaks.map((i) => {
    const range = `${count(starts[i] + 1)}–${count(starts[i] + window)}`;
    const open = () => show(`${name}, ${range}`, sequence.slice(starts[i], starts[i] + window));
    return [el("button", { type: "button", class: "link", onclick: open }, range), number(decisions[i])];
  });
  byId("scan").replaceChildren(el("h3", {}, "Windows along the sequence"),
    el("p", { class: "note" }, `Each window of ${plural(window, "residue")} is scored alone, as long as the training sequences; every ${starts.length > 1 ? plural(starts[1] - starts[0], "residue") : "residue"} one starts.`),
    el("figure", {}, drawn), rows.length ? table(Number.isFinite(cut) ? "Peaks above the threshold" : "Highest windows", ["residues", unit], rows)
      : el("p", {}, "No window is above the threshold."));
}
