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
  const scheme = form.elements.scheme_name.value;
  const k = Math.min(Math.max(Math.round(Number(form.elements.k.value)) || 1, 1), table[scheme].length);
  return table[scheme][k - 1][shares.indexOf(share)];
}

function against(value) {
  const saving = 1 - value / OVERLAP;
  return `${saving >= 0 ? "−" : "+"}${Math.round(Math.abs(saving) * 100)}\u00a0%`;
}

function show() {
  const share = shares[Number(slider.value)];
  const value = cost(share);
  find("value").textContent = value.toFixed(2);
  find("share").textContent = `${share} %`;
  const total = pairs ? `About ${whole.format(Math.round(value * pairs))} judgments for ${whole.format(pairs)} pairs, ` : "";
  find("detail").textContent = `${total}${against(value)} against 3-overlap.`;
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
