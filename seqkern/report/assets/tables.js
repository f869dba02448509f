// Tables are sorted by a click on a column's title; long ones have a filter.
const FILTERED_FROM = 11;
const COLLATOR = new Intl.Collator("en", { numeric: true });

function cellText(row, column) {
  return (row.cells[column]?.textContent ?? "").trim();
}

// "★ 0.964 ± 0.008" is 0.964; a dash is not a number
function cellNumber(text) {
  const plain = text.replace(/[,\u00a0]/g, "").replace(/\u2212/g, "-").replace(/^[★<>≥≤=~\s]+/u, "");
  const found = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i.exec(plain);
  return found ? Number(found[0]) : NaN;
}

function titleCells(table) {
  const taken = [];
  const titles = [];
  [...table.tHead.rows].forEach((row, y) => {
    let x = 0;
    for (const cell of row.cells) {
      while (taken[y]?.[x]) x += 1;
      for (let i = 0; i < cell.rowSpan; i += 1) {
        for (let j = 0; j < cell.colSpan; j += 1) (taken[y + i] ??= [])[x + j] = true;
      }
      if (cell.colSpan === 1 && y + cell.rowSpan === table.tHead.rows.length) titles.push([cell, x]);
      x += cell.colSpan;
    }
  });
  return titles;
}

function sortRows(table, column, falling) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => {
    const text = cellText(row, column);
    return { row, text, value: cellNumber(text) };
  });
  const filled = rows.filter(({ text }) => text && text !== "–");
  const numeric = filled.filter(({ value }) => !Number.isNaN(value)).length > filled.length / 2;
  const last = ({ text, value }) => (numeric ? Number.isNaN(value) : !text || text === "–");
  const sign = falling ? -1 : 1;
  rows.sort((a, b) => {
    if (last(a) || last(b)) return last(a) - last(b);
    return sign * (numeric ? a.value - b.value : COLLATOR.compare(a.text, b.text));
  });
  body.append(...rows.map(({ row }) => row));
}

function addSorting(table) {
  const titles = titleCells(table);
  for (const [title, column] of titles) {
    if (!title.textContent.trim()) continue;  // a column of bars
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const before = title.getAttribute("aria-sort");
      const falling = before ? before === "ascending" : title.classList.contains("num");
      titles.forEach(([other]) => other.removeAttribute("aria-sort"));
      title.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sortRows(table, column, falling);
    });
  }
}

function addFilter(table) {
  const rows = [...table.tBodies[0].rows];
  const form = document.createElement("p");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("output");
  form.className = "filter controls";
  label.textContent = "Filter rows ";
  field.type = "search";
  label.append(field);
  form.append(label, count);
  table.closest(".scroll").before(form);
  field.addEventListener("input", () => {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !parts.every((part) => text.includes(part));
      shown += !row.hidden;
    }
    count.textContent = parts.length ? `${shown} of ${rows.length} rows` : "";
  });
}

for (const table of document.querySelectorAll(".scroll > table")) {
  const body = table.tBodies[0];
  if (!table.tHead || body.rows.length < 2 || table.classList.contains("fixed")) continue;
  if (!body.querySelector("[rowspan], [colspan]")) addSorting(table);
  if (body.rows.length >= FILTERED_FROM) addFilter(table);
}
