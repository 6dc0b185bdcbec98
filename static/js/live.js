// Keeps the moving parts of a page fresh: asks the server for them every few seconds, and not at
// all while nobody looks. The server renders every part, so that there is one way to write it.

const root = document.querySelector("[data-live]");
const status = document.querySelector("[data-live-status]");
const seconds = Number(root?.dataset.seconds ?? 4);
const shown = new Map();
let freshAt = Date.now();
let timer = null;
let trouble = "";

/** The same part has a new form token each time; that alone is no change. */
function essence(html) {
  return html.replace(/name="csrfmiddlewaretoken" value="[^"]*"/g, "");
}

function replace(place, html) {
  if (shown.get(place) === essence(html)) return;
  // Whoever is just using a button or a table in it keeps it; the next round comes soon.
  if (place.contains(document.activeElement)) return;
  const open = [...place.querySelectorAll("details")].map((details) => details.open);
  const template = document.createElement("template");
  template.innerHTML = html;
  place.replaceChildren(template.content);
  place.querySelectorAll("details").forEach((details, index) => { details.open = open[index] ?? false; });
  shown.set(place, essence(html));
}

function apply(data) {
  for (const place of root.querySelectorAll("[data-fragment]")) {
    const html = data.fragments[place.dataset.fragment];
    if (html !== undefined) replace(place, html);
  }
  document.dispatchEvent(new CustomEvent("live", { detail: data }));
}

async function ask() {
  try {
    const answer = await fetch(root.dataset.live, { headers: { Accept: "application/json" } });
    if (answer.redirected || answer.status === 404) {
      trouble = "Signed out. Reload the page.";
      return stop();
    }
    if (!answer.ok) throw new Error(`Status ${answer.status}`);
    const data = await answer.json();
    if (data.state && data.state !== root.dataset.state) return location.reload();
    apply(data);
    freshAt = Date.now();
    trouble = "";
  } catch {
    trouble = "No connection. Trying again.";
  }
  return null;
}

function tell() {
  if (!status) return;
  const age = Math.round((Date.now() - freshAt) / 1000);
  status.textContent = trouble || (age < 2 ? "Updated just now" : `Updated ${age} s ago`);
}

async function round() {
  await ask();
  if (timer !== null) timer = setTimeout(round, seconds * 1000);
}

function start() {
  if (timer === null) timer = setTimeout(round, seconds * 1000);
}

function stop() {
  clearTimeout(timer);
  timer = null;
}

if (root) {
  document.addEventListener("visibilitychange", () => {
    stop();
    if (document.visibilityState === "visible") ask().then(start);
  });
  setInterval(tell, 1000);
  tell();
  start();
}
