// Nothing is lost: a judgment is written down here before it is sent, and crossed out when the
// server has it. The list survives a reload; the same key makes a second sending harmless.

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 15000;

export class SaveQueue {
  #key;
  #post;
  #busy = false;
  #wait = FIRST_WAIT;
  #timer = 0;
  #waiting = [];

  // post(entry) resolves to {kind: "done", answer} | {kind: "refused", answer} | {kind: "later", why}.
  constructor(judge, post, { onChange, onSettled }) {
    this.#key = `unsaved-${judge}`;
    this.#post = post;
    this.onChange = onChange;
    this.onSettled = onSettled;
    this.entries = this.#load();
    window.addEventListener("online", () => this.flush());
  }

  get length() {
    return this.entries.length;
  }

  get busy() {
    return this.#busy;
  }

  has(token) {
    return this.entries.some((entry) => entry.token === token);
  }

  add(entry) {
    if (this.has(entry.token)) return;
    this.entries.push(entry);
    this.#store();
    this.flush();
  }

  async flush() {
    if (this.#busy) return;
    clearTimeout(this.#timer);
    this.#busy = true;
    while (this.entries.length) {
      const entry = this.entries[0];
      this.onChange("saving");
      const result = await this.#post(entry);
      if (result.kind === "later") {
        this.#busy = false;
        this.onChange("unsaved", result.why);
        this.#tell(false);
        this.#timer = setTimeout(() => this.flush(), this.#wait);
        this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
        return;
      }
      this.#wait = FIRST_WAIT;
      this.entries.shift();
      this.#store();
      this.onSettled(entry, result);
    }
    this.#busy = false;
    this.#tell(true);
  }

  // Resolves to whether everything is saved, as soon as that can be said.
  drained() {
    if (!this.#busy) return Promise.resolve(this.entries.length === 0);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #tell(saved) {
    for (const resolve of this.#waiting.splice(0)) resolve(saved);
  }

  #load() {
    try {
      const entries = JSON.parse(localStorage.getItem(this.#key) ?? "[]");
      return Array.isArray(entries) ? entries : [];
    } catch {
      return [];
    }
  }

  #store() {
    try {
      if (this.entries.length) localStorage.setItem(this.#key, JSON.stringify(this.entries));
      else localStorage.removeItem(this.#key);
    } catch {
      // Storage is forbidden or full: the list lives as long as this page.
    }
  }
}
