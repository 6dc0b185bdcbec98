// Runs before the page is painted, so that nobody sees a flash of the other colours.
(() => {
  document.documentElement.classList.add("js");
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is forbidden here: the system's colours it is.
  }
})();
