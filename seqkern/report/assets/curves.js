// Curves: methods and folds are chosen by checkboxes; the point under the pointer is named.
const SVG = "http://www.w3.org/2000/svg";
const SIDE = 400;
const NEAR = 24;  // in units of the plot: further away nothing is named

// [x, y, x, y, …] in 1/10000 as corners; of precision and recall, the corners of the steps too
function corners(flat, steps) {
  const points = [];
  for (let i = 0; i < flat.length; i += 2) {
    const [x, y] = [flat[i] / 1e4, flat[i + 1] / 1e4];
    if (steps && points.length) points.push([points.at(-1)[0], y]);
    points.push([x, y]);
  }
  return points;
}

function nearest(points, x, y) {
  let best = { gap: Infinity };
  for (let i = 1; i < points.length; i += 1) {
    const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const along = length ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length)) : 0;
    const at = [ax + along * (bx - ax), ay + along * (by - ay)];
    const gap = SIDE * Math.hypot(at[0] - x, at[1] - y);
    if (gap < best.gap) best = { gap, at, i };
  }
  return best;
}

class Plot {
  constructor(box, data, kind) {
    Object.assign(this, { box, kind, data, lines: [] });
    this.area = box.querySelector(".area");
    this.dot = box.querySelector(".dot");
    this.tip = box.querySelector(".tip");
    data.methods.forEach((method, m) => method.lines.forEach((line, n) => {
      if (!line[kind].length) return;  // a fold without this method
      const points = corners(line[kind], kind === "pr");
      const path = n ? this.draw(method, points) : this.area.querySelector(`[data-method="${m}"]`);
      this.lines.push({ m, n, points, path, name: method.name, line: data.names[n] });
    }));
    box.tabIndex = 0;
    box.addEventListener("pointermove", (event) => this.point(event));
    box.addEventListener("pointerleave", () => this.leave());
    box.addEventListener("blur", () => this.leave());
    box.addEventListener("focus", () => { if (!this.at) this.step(0, 0); });
    box.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (!step) return;
      event.preventDefault();
      this.step(...step);
    });
  }

  draw(method, points) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", `M${points.map(([x, y]) => `${SIDE * x} ${SIDE * (1 - y)}`).join("L")}`);
    path.setAttribute("stroke", method.colour);
    path.setAttribute("class", "single");
    this.area.prepend(path);
    return path;
  }

  show(methods, lines) {
    for (const line of this.lines) line.path.style.display = methods[line.m] && (lines[line.n] ?? true) ? "" : "none";
    this.leave();
  }

  get shown() {
    return this.lines.filter(({ path }) => path.style.display !== "none");
  }

  point(event) {
    const frame = this.area.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame);
    let best = { gap: NEAR };
    for (const line of this.shown) {
      const found = nearest(line.points, x / SIDE, 1 - y / SIDE);
      if (found.gap < best.gap) best = { ...found, line };
    }
    if (best.line) this.name(best.line, best.at, best.i);
    else this.leave();
  }

  step(along, across) {
    const shown = this.shown;
    if (!shown.length) return;
    const before = Math.max(0, shown.indexOf(this.at?.line));
    const line = shown[(before + across + shown.length) % shown.length];
    const from = this.at ? Math.min(this.at.i, line.points.length - 1) : Math.floor(line.points.length / 2);
    const i = Math.min(line.points.length - 1, Math.max(0, from + along));
    this.name(line, line.points[i], i);
  }

  name(line, [x, y], i) {
    this.at = { line, i };
    const [first, second] = this.kind === "pr" ? ["recall", "precision"] : ["FPR", "TPR"];
    this.tip.textContent = `${line.name}, ${line.line}: ${first} ${x.toFixed(3)}, ${second} ${y.toFixed(3)}`;
    this.tip.hidden = false;
    this.dot.setAttribute("cx", SIDE * x);
    this.dot.setAttribute("cy", SIDE * (1 - y));
    this.dot.style.display = "";
    this.lines.forEach((other) => other.path.classList.toggle("over", other === line));
  }

  leave() {
    this.at = null;
    this.tip.hidden = true;
    this.dot.style.display = "none";
    this.lines.forEach(({ path }) => path.classList.remove("over"));
  }
}

for (const figure of document.querySelectorAll(".curves")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const plots = [...figure.querySelectorAll(".plot")].map((box) => new Plot(box, data, box.dataset.kind));
  const boxes = (name) => [...figure.querySelectorAll(`input[name="${name}"]`)];
  const update = () => {
    const [methods, lines] = ["method", "line"].map((name) => boxes(name).map((box) => box.checked));
    plots.forEach((plot) => plot.show(methods, lines));
  };
  figure.querySelectorAll("[hidden]:not(.tip)").forEach((control) => { control.hidden = false; });
  figure.querySelectorAll("button[data-all]").forEach((button) => button.addEventListener("click", () => {
    const group = boxes(button.dataset.all).slice(button.dataset.all === "line" ? 1 : 0);
    const on = !group.every((box) => box.checked);
    group.forEach((box) => { box.checked = on; });
    update();
  }));
  figure.addEventListener("change", update);
  update();
}
