// Folded parts open for links that lead into them, and on paper; texts can be copied.
function openTarget() {
  let target = null;
  try {
    target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return;  // not an encoded name
  }
  if (!target) return;
  const own = target.querySelector(":scope > details.part");
  if (own) own.open = true;
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  target.scrollIntoView();
}

function announce(box, text) {
  box.textContent = text;
  setTimeout(() => { box.textContent = ""; }, 3000);
}

function selectText(box) {
  const range = document.createRange();
  range.selectNodeContents(box);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

function addCopying(button) {
  const source = document.getElementById(button.dataset.copy);
  const said = button.parentElement.querySelector("output");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      announce(said, "Copied.");
    } catch {  // pages from a disk may have no clipboard
      selectText(source);
      announce(said, "Selected: press Ctrl+C.");
    }
  });
}

function addSaving(box) {
  const button = box.querySelector("button");
  const svgs = (box.closest("figure, .curves") ?? box.parentElement).querySelectorAll("svg");
  button.hidden = false;
  button.addEventListener("click", () => svgs.forEach((svg, i) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([svg.outerHTML], { type: "image/svg+xml" }));
    link.download = `${box.dataset.save}${i ? `-${i + 1}` : ""}.svg`;
    link.click();
    URL.revokeObjectURL(link.href);
  }));
}

// a menu of the contents bar closes when a link in it is followed, and by a click elsewhere
function closeMenus() {
  document.querySelectorAll("nav details[open]").forEach((menu) => { menu.open = false; });
}
addEventListener("click", ({ target }) => { if (!target.closest("nav") || target.closest("a")) closeMenus(); });
addEventListener("keydown", ({ key }) => { if (key === "Escape") closeMenus(); });

addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) openTarget();  // the same link again: no hashchange
});
openTarget();
document.querySelectorAll("button[data-copy]").forEach(addCopying);
document.querySelectorAll("[data-save]").forEach(addSaving);

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("main details:not([open])")];
  folded.forEach((box) => { box.open = true; });
});
addEventListener("afterprint", () => folded.forEach((box) => { box.open = false; }));
