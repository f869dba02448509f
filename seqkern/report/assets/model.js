// The page of a model: input, table of scores, one sequence in detail. A worker computes; it has the model.
const MOST_DRAWN = 2000, ROWS = 100, BARS = 36, MOST_PEAKS = 20, LISTED = 10;
const FORMULA = /^["\s\p{Z}\p{Cf}]*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff1d\uff0b\uff0d\uff20]/u;  // run by a spreadsheet
const SVG = "http://www.w3.org/2000/svg", INK = "#1c1c1c";
const byId = (id) => document.getElementById(id);
const model = JSON.parse(byId("model").textContent);
const [negative, positive] = model.classes;
const letters = [...model.alphabet.letters];
const unit = positive ? "decision value" : "predicted number";

// text is only ever text: elements are made here, and nowhere from HTML
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}
const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
const link = (text, onclick = null) => el("button", { type: "button", class: "link", onclick }, text);
const label = (x, y, text, anchor) => svg("text", { x, y, "font-size": 12, "text-anchor": anchor, fill: INK }, text);
const line = (d, stroke = INK, dashes = null) => svg("path", {
  d, stroke, fill: "none", "stroke-width": 1.3, "stroke-dasharray": dashes });
const scrolling = (label, content) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, content);
const ends = (values) => values.filter(Number.isFinite).reduce(
  ([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

const count = (value) => value.toLocaleString("en");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const clean = (text) => text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
function number(value, signed = false) {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 || (size && size < 1e-4) ? value.toExponential(1) : value.toFixed(size && size < 0.01 ? 5 : 3);
  return (signed && Number(text) > 0 ? "+" : "") + (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}
const cut = positive && !model.by_probability ? model.threshold : -Infinity;
const kinds = [...(positive ? [[1, positive], [0, negative]] : [[1, "scored"]]), [2, "not scored"]];
function kindOf(decision, probability) {
  return Number.isNaN(decision) ? 2 : +(model.by_probability ? probability > 0.5 : decision > cut);
}
const classOf = (...values) => [negative, positive, "–"][kindOf(...values)];
function verdict(decision, probability) {
  const known = positive && (!model.by_probability || !Number.isNaN(probability));
  return known ? `${number(decision)} (${classOf(decision, probability)})` : number(decision);
}

function table(caption, heads, rows) {
  const cell = (value, i) => (i ? el("td", { class: typeof value === "string" && "num" }, value) : el("th", { scope: "row" }, value));
  return scrolling(caption, el("table", { class: "dense" }, el("caption", {}, el("span", {}, caption)),
    el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i > 0 && "num" }, text)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell))))));
}

// The worker

const worker = new Worker(URL.createObjectURL(new Blob([byId("engine").textContent], { type: "text/javascript" })));
let jobs = 0;
function send(type, more) {
  worker.postMessage({ type, job: jobs += 1, ...more });
  return jobs;
}
const answers = {
  ready() { [byId("go").disabled, byId("said").textContent] = [false, "Ready."]; },
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
    finish(records ? `${plural(records, "sequence")} read.` : "There is no sequence in it.");
  },
  sequence({ job, sequence }) { if (job === found.job) show(found.ids[found.wanted], sequence); },
  explained: drawExplained,
  scanned: drawScan,
};
worker.addEventListener("message", ({ data }) => answers[data.type]?.(data));
worker.addEventListener("error", ({ message }) => answers.error({ text: `The page cannot compute: ${message}` }));
worker.postMessage({ type: "load", model });

// Input

let found = { job: 0, running: false, n: 0 };
const sorting = { key: null, falling: false };
function start(input) {
  if (found.running) worker.postMessage({ type: "cancel", job: found.job });
  found = { n: 0, ids: [], notes: new Map(), counts: [0, 0, 0], running: true,
    lengths: new Int32Array(1024), decisions: new Float64Array(1024), probabilities: new Float64Array(1024) };
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
const open = (file) => { if (file) { byId("text").value = ""; start({ file }); } };
byId("go").addEventListener("click", read);
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
  const wider = n > values.length ? new values.constructor(2 * n) : values;
  if (wider !== values) wider.set(values);
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
    found.counts[kindOf(decisions[i], probabilities?.[i])] += 1;
  });
}
function compare() {
  const { ids, lengths, decisions, probabilities, order } = found, { key } = sorting;
  const plain = (a, b) => (ids[a] < ids[b] ? -1 : Number(ids[a] > ids[b]));
  const { compare: natural } = new Intl.Collator("en", { numeric: true });  // slow
  if (key === "id") return order.length > 20000 ? plain : (a, b) => natural(ids[a], ids[b]);
  if (key === "class") return (a, b) => kindOf(decisions[a], probabilities[a]) - kindOf(decisions[b], probabilities[b]);
  const values = { length: lengths, decision: decisions, probability: probabilities }[key];
  return (a, b) => values[a] - values[b];
}
function arrange() {
  const text = byId("contains").value.toLowerCase(), only = byId("only").value;
  const { n, ids, decisions, probabilities } = found, kept = new Uint32Array(n);
  let size = 0;
  for (let i = 0; i < n; i += 1) {
    const own = only === "" || kindOf(decisions[i], probabilities[i]) === Number(only);
    if (own && (!text || ids[i].toLowerCase().includes(text))) kept[size++] = i;
  }
  Object.assign(found, { order: kept.subarray(0, size), shown: ROWS });
  if (sorting.key) {
    const forward = compare(), sign = sorting.falling ? -1 : 1, last = (i) => Number.isNaN(decisions[i]);
    found.order.sort((a, b) => last(a) - last(b) || sign * forward(a, b) || a - b);
  }
  drawRows();
}
function drawRows() {
  const { order, shown, ids, lengths, decisions, probabilities, notes, counts, n } = found;
  byId("rows").replaceChildren(...Array.from(order.subarray(0, shown), (i) => {
    const value = (text) => el("td", { class: "num" }, text);
    const cells = notes.has(i) ? [el("td", { class: "missing", colspan: 3 }, clean(notes.get(i)))] : [
      value(number(decisions[i])), ...(positive ? [el("td", {}, classOf(decisions[i], probabilities[i]))] : []),
      ...(model.calibration ? [value(number(probabilities[i]))] : [])];
    const name = el("th", { scope: "row" }, link(clean(ids[i])));
    return el("tr", { onclick: () => look(i) }, name, value(count(lengths[i])), ...cells);
  }));
  byId("more").hidden = order.length <= shown;
  const matching = order.length < n ? `${count(order.length)} matching of ` : "";
  byId("matching").textContent = `${count(Math.min(shown, order.length))} of ${matching}${plural(n, "sequence")}`;
  byId("counts").textContent = kinds.map(([kind, name]) => `${count(counts[kind])} ${name}`).join(", ");
}
byId("only").append(...kinds.map(([value, name]) => el("option", { value }, name)));
byId("more").addEventListener("click", () => { found.shown += ROWS; drawRows(); });
byId("contains").addEventListener("input", arrange);
byId("only").addEventListener("change", arrange);
for (const button of document.querySelectorAll("[data-key]")) {
  button.addEventListener("click", () => {
    const { key } = button.dataset, title = button.parentElement;
    sorting.falling = sorting.key === key ? !sorting.falling : title.classList.contains("num");
    sorting.key = key;
    title.parentElement.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    title.setAttribute("aria-sort", sorting.falling ? "descending" : "ascending");
    arrange();
  });
}
function drawHistogram() {
  const values = found.decisions.subarray(0, found.n).filter(Number.isFinite), [low, high] = ends(values);
  byId("histogram").replaceChildren();
  if (!(low < high)) return;
  const width = (high - low) / BARS, inside = cut > low && cut < high;
  const first = inside ? cut - Math.ceil((cut - low) / width) * width : low;  // the threshold is an edge
  const bars = new Uint32Array(BARS + 2), x = (value) => 10 + 380 * (value - first) / (width * (BARS + 1));
  for (const value of values) bars[Math.max(0, Math.ceil((value - first) / width) - 1)] += 1;
  const most = Math.max(...bars), rects = Array.from(bars, (some, i) => {
    const at = first + i * width, height = some && Math.max(1, 90 * some / most);
    const shape = { x: x(at), y: 100 - height, width: 9.3, height, fill: at < cut - width / 2 ? "#d55e00" : "#0072b2" };
    return svg("rect", shape, svg("title", {}, `${number(at)} to ${number(at + width)}: ${count(some)}`));
  });
  const frame = { viewBox: "0 0 400 130", role: "img", "aria-label": `Histogram of the ${unit}s` };
  const drawn = svg("svg", frame, ...rects, line("M8,100.5H392"), label(10, 115, number(low), "start"));
  drawn.append(label(390, 115, number(high), "end"));
  if (inside) drawn.append(line(`M${x(cut)},4V104`, INK, "4 3"), label(x(cut), 127, `threshold ${number(cut)}`, "middle"));
  byId("histogram").append(drawn, el("figcaption", {}, `Number of sequences by ${unit}`));
}

// Files: as `seqkern predict` writes them, with lengths; a spreadsheet runs nothing in them

function save(ending) {
  const safe = (text) => {
    const plain = text.replace(/\p{Cc}/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
    const inert = FORMULA.test(plain) ? `'${plain}` : plain;
    return ending === "csv" && /[",]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  };
  const digits = (value) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(10))));
  const columns = [["id", (i) => safe(found.ids[i])], ["length", (i) => found.lengths[i]], ["decision", (i) => digits(found.decisions[i])]];
  const known = (i) => (found.notes.has(i) ? "" : safe(classOf(found.decisions[i], found.probabilities[i])));
  if (positive) columns.push(["predicted", known]);
  if (model.calibration) columns.push(["probability", (i) => digits(found.probabilities[i])]);
  columns.push(["note", (i) => safe(found.notes.get(i) ?? "")]);
  const mark = ending === "csv" ? "," : "\t", lines = [columns.map(([name]) => name).join(mark)];
  for (let i = 0; i < found.n; i += 1) lines.push(columns.map(([, cell]) => cell(i)).join(mark));
  const href = URL.createObjectURL(new Blob([lines.join("\n"), "\n"], { type: "text/plain" }));
  el("a", { href, download: `predictions.${ending}` }).click();
  URL.revokeObjectURL(href);
}
document.querySelectorAll("[data-table]").forEach((button) => button.addEventListener("click", () => save(button.dataset.table)));

// One sequence: its residues, changes of them, and windows along it

const [size, longest] = ["window", "longest"].map((name) => Number(byId("see").dataset[name]));
const residues = byId("residues");
let one = { job: -1, scan: -1, changes: [] };
function look(record) {
  found.wanted = record;
  worker.postMessage({ type: "sequence", job: found.job, record });
}
function show(name, sequence) {
  one = { name, sequence, job: -1, scan: -1, changes: [], at: 0 };
  for (const id of ["decided", "trouble", "scan"]) byId(id).replaceChildren();
  byId("hint").hidden = byId("explained").hidden = byId("undo").disabled = byId("restore").disabled = true;
  byId("one").hidden = false;
  byId("name").textContent = clean(name);
  byId("name").focus();
  byId("see").scrollIntoView();
  const n = sequence?.length, fixed = model.fixed_length, most = fixed ? 50000 : 5000, long = n > (fixed ?? (2 * longest || Infinity));
  if (long) one.scan = send("scan", { sequence, window: size, step: Math.ceil((n - size + 1) / most) });
  if (!(long && fixed) && n <= Math.max(MOST_DRAWN, 2 * longest)) one.job = send("explain", { sequence });
  else if (!long) {
    byId("trouble").textContent = clean(found.notes.get(found.wanted) ?? "It was too long to keep: score it alone, or a part of it.");
  }
}
function say(decision, probability) {
  const { changes } = one, last = changes.at(-1), name = ({ at, from, letter }) => `${from}${at + 1}${letter}`;
  const now = `${unit[0].toUpperCase()}${unit.slice(1)} ${verdict(decision, probability)}`;
  const chance = Number.isNaN(probability ?? NaN) ? "" : `, probability of ${positive} ${number(probability)}`;
  const before = last && ` with ${name(last)}, ${verdict(last.decision, last.probability)} without it`;
  const all = changes.length > 1 ? ` All changes: ${changes.map(name).join(", ")}; ${number(changes[0].decision)} without them.` : "";
  byId("decided").textContent = `${now}${chance}${before ?? ""}.${all}`;
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
    return [link(`${sequence[at]}${at + 1}${letter}`, () => change(at, letter)), number(changes[i]), number(changes[i] - decision, true)];
  })));
  byId("words").replaceChildren(...(words.length ? [table("K-mers of largest weight", ["k-mer", "position", "weight"],
    words.slice(0, LISTED).map(({ start, text, weight }) => [el("code", {}, text), count(start + 1), number(weight, true)]))] : []));
}
function drawResidues() {
  const { sequence, contributions } = one.answer, changed = new Set(one.changes.map(({ at }) => at)), tens = [];
  const most = contributions.reduce((large, value) => Math.max(large, Math.abs(value)), 0) || 1;
  for (let i = 0; i < Math.min(sequence.length, MOST_DRAWN); i += 1) {
    if (i % 10 === 0) tens.push(el("span", { role: "group", "aria-label": `from ${i + 1}`, "data-n": count(i + 1) }));
    tens.at(-1).append(el("span", { role: "option", id: `r${i}`, "data-at": i, "aria-selected": "false",
      class: `${contributions[i] < 0 ? "negative" : "positive"}${changed.has(i) ? " changed" : ""}`,
      style: `--share: ${Math.abs(contributions[i] / most).toFixed(3)}`,
      "aria-label": `${i + 1}: ${sequence[i]}, ${number(contributions[i], true)}` }, sequence[i]));
  }
  residues.replaceChildren(...tens);
  byId("rest").hidden = sequence.length <= MOST_DRAWN;
  select(one.at, false);
}
function tell(at) {
  const { sequence, contributions, words } = one.answer;
  const over = words.filter(({ start, text }) => start <= at && at < start + text.length).slice(0, 3);
  const listed = over.map(({ start, text, weight }) => `${text} at ${count(start + 1)} (${number(weight, true)})`).join(", ");
  const place = `Position ${count(at + 1)} of ${count(sequence.length)}: ${sequence[at]}`;
  byId("residue").textContent = `${place}, contribution ${number(contributions[at], true)}${listed && `; k-mers over it: ${listed}`}`;
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
  const { sequence, changes } = one.answer, { at } = one, values = changes.subarray(at * letters.length);
  const choice = (letter, i) => el("button", { type: "button", disabled: Number.isNaN(values[i]), onclick: () => change(at, letter) },
    el("b", {}, letter), ` ${number(values[i])}`);
  byId("letters").replaceChildren("Change to ", ...letters.map(choice).filter((_, i) => letters[i] !== sequence[at]));
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
function undo(first) {
  const [{ sequence, decision, probability }] = one.changes.splice(first);
  renew(sequence, decision, probability);
}
byId("undo").addEventListener("click", () => undo(-1));
byId("restore").addEventListener("click", () => undo(0));
const placeOf = ({ target }) => target.closest("[data-at]")?.dataset.at;
residues.addEventListener("pointerover", (event) => { if (placeOf(event)) tell(Number(placeOf(event))); });
residues.addEventListener("pointerleave", () => tell(one.at));
residues.addEventListener("click", (event) => {
  if (!placeOf(event)) return;
  select(Number(placeOf(event)));
  offer();
});
residues.addEventListener("keydown", (event) => {
  const last = Math.min(one.answer.sequence.length, MOST_DRAWN) - 1, tens = [...residues.children];
  const row = 10 * tens.filter(({ offsetTop }) => offsetTop === tens[0].offsetTop).length;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row, Home: -last, End: last }[event.key];
  if (step) select(Math.min(last, Math.max(0, one.at + step)));
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
  const { sequence, decision, changes } = one.answer, n = Math.min(MOST_DRAWN, sequence.length), step = wide();
  const [width, height, ratio] = [LEFT + n * step + 20, TOP + letters.length * HIGH, Math.min(2, devicePixelRatio)];
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d"), ink = getComputedStyle(canvas).color;
  const most = changes.reduce((large, value) => Math.max(large, Math.abs(value - decision) || 0), 0) || 1;
  pen.scale(ratio, ratio);
  pen.font = "11px sans-serif";
  pen.fillStyle = ink;
  letters.forEach((letter, row) => pen.fillText(letter, 2, TOP + row * HIGH + 11));
  for (let at = 0; at < n; at += 1) {
    const x = LEFT + at * step;
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
function point({ type, offsetX, offsetY }) {
  const at = Math.floor((offsetX - LEFT) / wide()), row = Math.floor((offsetY - TOP) / HIGH);
  const { sequence, decision, changes } = one.answer, value = letters[row] ? changes[at * letters.length + row] ?? NaN : NaN;
  const name = `${sequence[at]}${at + 1}${letters[row]}: ${unit} ${number(value)} (${number(value - decision, true)})`;
  byId("cell").textContent = Number.isNaN(value) ? "" : name;
  if (type === "click" && !Number.isNaN(value)) change(at, letters[row]);
}
canvas.addEventListener("pointermove", point);
canvas.addEventListener("click", point);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (one.answer) drawMap(); });

function drawScan({ job, starts, decisions, window }) {
  if (job !== one.scan) return;
  const { name, sequence } = one;
  const order = [...decisions.keys()].filter((i) => decisions[i] > cut).sort((a, b) => decisions[b] - decisions[a]);
  const peaks = [];
  for (const i of order) {
    if (peaks.length < MOST_PEAKS && peaks.every((j) => Math.abs(starts[j] - starts[i]) >= window)) peaks.push(i);
  }
  const [low, high] = ends([...decisions, cut]);
  const x = (i) => 50 + 740 * starts[i] / (sequence.length - window || 1);
  const y = (value) => 130 - 115 * (value - low) / (high - low || 1);
  const to = (value, i) => `${decisions[i - 1] > -Infinity ? "L" : "M"}${x(i).toFixed(1)},${y(value).toFixed(1)}`;
  const drawn = svg("svg", { viewBox: "0 0 800 160", role: "img", "aria-label": `${unit} of each window along the sequence` },
    line(Array.from(decisions, (value, i) => (Number.isNaN(value) ? "" : to(value, i))).join(""), "#0072b2"), line("M50,10V132H790"),
    ...(cut > -Infinity ? [line(`M50,${y(cut)}H790`, INK, "5 4")] : []),
    ...peaks.map((i) => svg("circle", { cx: x(i), cy: y(decisions[i]), r: 3.5, fill: INK })),
    label(46, y(high) + 4, number(high), "end"), label(46, y(low), number(low), "end"),
    label(50, 148, "1", "middle"), label(790, 148, count(sequence.length), "end"));
  const rows = peaks.map((i) => {
    const range = `${count(starts[i] + 1)}–${count(starts[i] + window)}`;
    const piece = () => show(`${name}, ${range}`, sequence.slice(starts[i], starts[i] + window));
    return [link(range, piece), number(decisions[i])];
  });
  const every = starts.length > 1 && starts[1] - starts[0] > 1 ? plural(starts[1] - starts[0], "residue") : "residue";
  const text = `Windows of ${plural(window, "residue")}, the length in training, start at every ${every} and are scored one by one. `
    + `Dots are the peaks in the table${cut > -Infinity ? "; the dashed line is the threshold" : ""}.`;
  byId("scan").replaceChildren(el("h3", {}, "Windows along the sequence"), el("p", { class: "note" }, text),
    el("div", { class: "positions" }, scrolling("Windows", drawn)),
    rows.length ? table("Peaks", ["residues", unit], rows) : el("p", {}, "No window is above the threshold."));
}
