// The confusion matrix of two classes at a threshold that can be moved.
for (const box of document.querySelectorAll(".threshold")) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const [choice, slider, reset] = ["select", "input", "button"].map((name) => box.querySelector(`.controls ${name}`));
  const said = box.querySelector(".controls output");
  const place = (name) => box.querySelector(`[data-count="${name}"]`);
  const share = (part, whole) => (whole ? `${(100 * part / whole).toFixed(1)}%` : "–");
  const count = (value) => value.toLocaleString("en");

  const show = ([tp, fp], text) => {
    const { positives, negatives } = data[choice.value];
    const [fn, tn] = [positives - tp, negatives - fp];
    for (const [name, value] of Object.entries({ tp, fp, fn, tn })) {
      place(name).textContent = count(value);
      const whole = name === "tp" || name === "fn" ? positives : negatives;
      place(name).style.setProperty("--share", whole ? value / whole : 0);
    }
    place("sensitivity").textContent = share(tp, positives);
    place("specificity").textContent = share(tn, negatives);
    place("precision").textContent = share(tp, tp + fp);
    place("accuracy").textContent = share(tp + tn, positives + negatives);
    said.textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };
  const start = () => {
    const { predicted, places, start: first } = data[choice.value];
    box.querySelector(".chosen").textContent = choice.selectedOptions[0].textContent;
    slider.max = places.length - 1;
    slider.value = first;
    show(predicted, "threshold as trained");
  };
  const move = () => {
    const [threshold, tp, fp] = data[choice.value].places[Number(slider.value)];
    show([tp, fp], `decision value ≥ ${threshold}`.replace("-", "\u2212"));
  };
  choice.addEventListener("change", start);
  slider.addEventListener("input", move);
  reset.addEventListener("click", start);
  box.querySelectorAll("[hidden]").forEach((control) => { control.hidden = false; });
  start();
}
