// The document itself in a closed frame: it can run, but not reach us, lead us away or open windows.
// Keys that are pressed in there never come to us; that is said, and given back with a click.

const THEFTS = 3;

export class LivePage {
  #say;
  #zone = document.querySelector("[data-live]");
  #pair = null;
  #frame = null;
  #inside = false; // the pointer is in the frame, so that focus may follow it there
  #thefts = 0;

  constructor(say) {
    this.#say = say;
    if (!this.#zone) return;
    document.querySelector("[data-view-plain]").hidden = true;
    for (const button of this.#buttons()) {
      button.hidden = false;
      button.addEventListener("click", () => this.show(button.dataset.view === "live"));
    }
    this.#find("keys").addEventListener("click", () => this.#takeKeys());
    window.addEventListener("blur", () => setTimeout(() => this.#lostKeys()));
    window.addEventListener("focus", () => this.#haveKeys());
  }

  get open() {
    return Boolean(this.#zone) && !this.#zone.hidden;
  }

  // Another pair: whoever looked at live pages goes on doing so.
  turnTo(pair) {
    this.#pair = pair;
    if (this.open) this.#load();
  }

  show(live) {
    if (!this.#zone) return;
    this.#zone.hidden = !live;
    document.querySelector("[data-document]").toggleAttribute("data-live-open", live);
    for (const button of this.#buttons()) {
      button.setAttribute("aria-pressed", String((button.dataset.view === "live") === live));
    }
    if (live) this.#load();
    else this.#close();
  }

  // Answers whether there was something to close.
  leave() {
    if (!this.open) return false;
    this.show(false);
    return true;
  }

  #buttons() {
    return document.querySelectorAll("[data-view]");
  }

  #find(name) {
    return this.#zone.querySelector(`[data-live-${name}]`);
  }

  #line(text, keys = false) {
    this.#find("line").textContent = text;
    this.#find("keys").hidden = !keys;
  }

  #load() {
    this.#close();
    this.#thefts = 0;
    if (!this.#pair?.live) {
      this.#line(this.#say.live_none);
      return;
    }
    this.#line(this.#say.live);
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.setAttribute("credentialless", "");
    frame.referrerPolicy = "no-referrer";
    frame.tabIndex = -1; // Tab does not lead in, where a page could keep it
    frame.title = this.#pair.address.href;
    frame.addEventListener("pointerenter", () => { this.#inside = true; });
    frame.addEventListener("pointerleave", () => { this.#inside = false; });
    frame.src = this.#pair.address.href;
    this.#frame = frame;
    // A new frame for every page: one that is led on would fill the way back.
    this.#find("frame").replaceChildren(frame);
  }

  #close() {
    const had = this.#frame !== null && document.activeElement === this.#frame;
    this.#frame = null;
    this.#inside = false;
    this.#find("frame").replaceChildren();
    if (had) this.#takeKeys();
  }

  #lostKeys() {
    if (this.#frame === null || document.activeElement !== this.#frame) return;
    if (this.#inside) {
      this.#line(this.#say.live_keys, true);
      return;
    }
    // Nobody clicked there: the page took the keys for itself.
    this.#thefts += 1;
    this.#takeKeys();
    if (this.#thefts >= THEFTS) {
      this.#close();
      this.#line(this.#say.live_thief);
    }
  }

  #haveKeys() {
    if (this.#frame !== null) this.#line(this.#say.live);
  }

  #takeKeys() {
    this.#frame?.blur();
    window.focus();
    document.getElementById("content").focus({ preventScroll: true });
    this.#haveKeys();
  }
}
