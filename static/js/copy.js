// Copies a sign-in link; without script it can be selected by hand.
const button = document.querySelector("[data-copy]");
const source = document.querySelector("[data-copy-source]");

if (button && source) {
  source.addEventListener("focus", () => source.select());
  if (navigator.clipboard) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(source.value);
      button.textContent = "Copied";
    });
  }
}
