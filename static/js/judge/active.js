// How long a judge really looked: visible, and not away from mouse and keys for a minute.

const IDLE_AFTER = 60000;

export class ActiveTime {
  #total = 0;
  #since = 0;
  #lastSign = performance.now();

  constructor() {
    for (const type of ["keydown", "pointermove", "pointerdown", "scroll", "touchstart"]) {
      window.addEventListener(type, () => this.#sign(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.#sign());
    this.restart();
  }

  restart() {
    this.#total = 0;
    this.#since = this.#lastSign = performance.now();
  }

  get milliseconds() {
    this.#count();
    return Math.round(this.#total);
  }

  #sign() {
    this.#count();
    this.#lastSign = performance.now();
  }

  #count() {
    const now = performance.now();
    const end = Math.min(now, this.#lastSign + IDLE_AFTER);
    if (!this.wasHidden && end > this.#since) this.#total += end - this.#since;
    this.#since = now;
    this.wasHidden = document.hidden;
  }
}
