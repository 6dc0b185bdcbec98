// Paints a pair into the zones of the page. Text becomes text nodes, never markup.

export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

const find = (name) => document.querySelector(`[data-${name}]`);
const findAll = (name) => document.querySelectorAll(`[data-${name}]`);

function paintSegments(element, segments) {
  element.hidden = segments.length === 0;
  element.replaceChildren(
    ...segments.map(([text, hit]) => {
      if (!hit) return document.createTextNode(text);
      const mark = document.createElement("mark");
      mark.textContent = text;
      return mark;
    }),
  );
}

function paintLink(link, href) {
  // The server sends http and https only; this is the second lock on the same door.
  if (/^https?:\/\//i.test(href)) {
    link.href = href;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  } else {
    link.removeAttribute("href");
  }
}

function storedLine(pair, say) {
  if (pair.text.length) {
    return fill(pair.cut ? say.stored_cut : say.stored_text, { words: pair.words });
  }
  return pair.snippet.length ? "" : say.no_text;
}

export function paintPair(pair, say) {
  find("query").textContent = pair.query;
  find("intent").textContent = pair.intent;
  find("locale").textContent = pair.locale;
  find("locale").hidden = !pair.locale;
  find("title").textContent = pair.title;
  find("before").textContent = pair.address.before;
  find("host").textContent = pair.address.host;
  find("after").textContent = pair.address.after;
  for (const link of findAll("open")) paintLink(link, pair.address.href);
  paintSegments(find("snippet"), pair.snippet);
  paintSegments(find("text"), pair.text);
  find("stored").textContent = storedLine(pair, say);
  for (const name of ["query", "title", "snippet", "text"]) find(name).lang = pair.lang;
  for (const input of findAll("seat")) input.value = pair.seat;
  for (const input of findAll("token")) input.value = pair.token;
  find("scroll").scrollTop = 0;
  if (window.scrollY > 0) window.scrollTo(0, 0);
}

export function paintProgress(progress, say) {
  const over = progress.done > progress.goal;
  find("bar").value = progress.shown;
  find("count").textContent = fill(over ? say.count_over : say.count, progress);
  find("pace").textContent = fill(progress.seconds ? say.pace : say.pace_short, progress);
}

export function paintIdle(idle) {
  find("pair").hidden = Boolean(idle);
  find("idle").hidden = !idle;
  if (!idle) return;
  find("idle-title").textContent = idle.title;
  find("idle-text").textContent = idle.text;
  find("look-again").hidden = !idle.look_again;
}
