// Single keys for everything. They rest while somebody types, with modifiers, and when switched off.

const SWITCH = "keys-off";

function typing(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
}

export function keysOn() {
  try {
    return localStorage.getItem(SWITCH) !== "1";
  } catch {
    return true;
  }
}

export function switchKeys(on) {
  try {
    if (on) localStorage.removeItem(SWITCH);
    else localStorage.setItem(SWITCH, "1");
  } catch {
    // Storage is forbidden: keys stay on.
  }
}

// keys: {step: key}; actions: {step: function}; reasons(digit) answers whether it took the digit.
export function listen(keys, actions, { reasons, escape }) {
  const steps = new Map(Object.entries(keys).map(([step, key]) => [key, step]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.key === "Escape") {
      if (escape()) event.preventDefault();
      return;
    }
    if (!keysOn() || typing(event.target) || document.querySelector("dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (/^[1-9]$/.test(key) && reasons(Number(key))) {
      event.preventDefault();
      return;
    }
    const action = actions[steps.get(key)];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
