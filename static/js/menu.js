// The person's menu: closes on Esc and on a click elsewhere, and switches the colours. The tabs: the
// current one is in sight.
const menu = document.querySelector("[data-menu]");
const themes = ["auto", "light", "dark"];

function setUpTheme(button) {
  const name = button.querySelector("[data-theme-name]");
  const current = () => document.documentElement.dataset.theme ?? "auto";
  const show = () => { name.textContent = button.dataset[current()]; };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(current()) + 1) % themes.length];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {
      // It holds for this page only where storage is forbidden.
    }
    show();
    document.dispatchEvent(new CustomEvent("themechange"));
  });
  show();
}

if (menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  const button = menu.querySelector("[data-theme-switch]");
  if (button) setUpTheme(button);
}

const tabs = document.querySelector(".tabs");
const here = tabs?.querySelector('[aria-current="page"]');
if (here) tabs.scrollLeft = here.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
