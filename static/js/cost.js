// The expected cost beside the choice of scheme and k. Every figure was computed by the server from
// the schemes themselves; here it is only looked up.

const form = document.querySelector("[data-cost-form]");
const { shares, table } = JSON.parse(document.getElementById("costs-data").textContent);
const find = (name) => form.querySelector(`[data-cost-${name}]`);
const slider = find("slider");
const pairs = Number(form.dataset.pairs);
const OVERLAP = 3;

const whole = new Intl.NumberFormat(document.documentElement.lang);

function cost(share) {
  const { field, rows } = table[form.elements.scheme_name.value];
  const given = field ? Number(form.elements[field].value) || 1 : 1;
  // Judgments per pair are what they are, whatever the share; other numbers are looked up.
  if (field === "per_pair") return Math.max(given, 1);
  const number = Math.round(given);
  return rows[Math.min(Math.max(number, 1), rows.length) - 1][shares.indexOf(share)];
}

function against(value) {
  const percent = Math.round((value / OVERLAP - 1) * 100);
  if (percent === 0) return "the same";
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent)}\u00a0%`;
}

function show() {
  const scheme = form.elements.scheme_name.value;
  for (const place of form.querySelectorAll("[data-schemes]")) {
    place.hidden = !place.dataset.schemes.split(" ").includes(scheme);
  }
  const share = shares[Number(slider.value)];
  const value = cost(share);
  find("value").textContent = value.toFixed(2);
  find("share").textContent = `${share} %`;
  const total = pairs ? `About ${whole.format(Math.round(value * pairs))} judgments for ${whole.format(pairs)} pairs, ` : "";
  find("detail").textContent = `${total}${against(value)} ${against(value) === "the same" ? "as" : "against"} 3-overlap.`;
  for (const row of form.querySelectorAll("[data-cost-row]")) {
    const figure = cost(Number(row.dataset.costRow));
    row.querySelector("[data-cost-cell]").textContent = figure.toFixed(2);
    row.querySelector("[data-cost-saving]").textContent = against(figure);
  }
}

find("live").hidden = false;
slider.max = String(shares.length - 1);
form.addEventListener("input", show);
show();
