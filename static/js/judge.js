// The judging page with script: the same forms, without leaving the page.

import { ActiveTime } from "./judge/active.js";
import { keysOn, listen, switchKeys } from "./judge/keys.js";
import { paintTraining, teach } from "./judge/lesson.js";
import { LivePage } from "./judge/live.js";
import { fill, paintIdle, paintPair, paintProgress } from "./judge/pair.js";
import { SaveQueue } from "./judge/queue.js";
import { get, post } from "./judge/server.js";

const setup = JSON.parse(document.getElementById("setup").textContent);
const say = setup.say;
const find = (name) => document.querySelector(`[data-${name}]`);
const gradeForm = document.getElementById("grade-form");
const buttons = [...gradeForm.querySelectorAll("[name=grade]")];
const comment = document.getElementById("comment");
const pops = [find("refuse"), find("comment")];
const dialogs = { guidelines: document.getElementById("guidelines"), help: document.getElementById("help") };
const active = new ActiveTime();
const live = new LivePage(say);
const HEARTBEAT = 4 * 60 * 1000;
let current = null; // the pair before her eyes; null while she waits for one
let ahead = null; // the pair after it, fetched before it is wanted
let stepping = false; // an undo or a refusal is on its way

// -- What the judge is told ------------------------------------------------------------------------

function showState(state, text) {
  find("save-state").dataset.state = state;
  find("save-state").textContent = text;
}

let toastTimer = 0;
function toast(text, seconds = 6, kind = "") {
  const element = document.createElement("p");
  element.className = "toast";
  element.dataset.kind = kind;
  element.textContent = text;
  find("toasts").replaceChildren(element);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => element.remove(), seconds * 1000);
}

function speak(text) {
  find("spoken").textContent = text;
}

// -- The pair on the page --------------------------------------------------------------------------

const holding = () => current !== null;

function mark(grade) {
  for (const button of buttons) {
    button.setAttribute("aria-checked", String(Number(button.value) === grade));
  }
  rove(buttons.find((button) => button.getAttribute("aria-checked") === "true") ?? buttons[0]);
}

function show(pair) {
  current = pair;
  paintIdle(null);
  paintPair(pair, say);
  mark(pair.before);
  comment.value = "";
  noteComment();
  closePops();
  active.restart();
  live.turnTo(pair);
  delete gradeForm.dataset.busy;
}

// The answer names the pairs that are hers now. What she looks at stays, unless it is lost.
function update({ next, ahead: after, idle, progress, training, guidelines }) {
  paintProgress(progress, say);
  paintTraining(training, say);
  // New guidelines are read before she goes on: the page leads there.
  if (guidelines !== setup.guidelines && !queue.length) window.location.reload();
  const hers = [next, after].filter((pair) => pair && !queue.has(pair.token));
  if (current && hers.some((pair) => pair.token === current.token)) {
    ahead = hers.find((pair) => pair.token !== current.token) ?? null;
  } else if (current && queue.length) {
    ahead = hers[0] ?? null;
  } else if (hers.length) {
    if (current) toast(say.moved_on, 10);
    show(hers[0]);
    ahead = hers[1] ?? null;
  } else if (!queue.length) {
    current = ahead = null;
    closePops();
    live.leave();
    paintIdle(idle);
  }
}

function restart(answer) {
  current = ahead = null;
  update(answer);
}

// -- Grading ---------------------------------------------------------------------------------------

const queue = new SaveQueue(setup.judge, (entry) => post(entry.url, entry.fields), {
  onChange(state, why) {
    if (state === "saving") {
      showState("saving", say.saving);
    } else {
      showState("unsaved", fill(say.unsaved, { n: queue.length }));
      toast(say[why], 10, "unsaved");
    }
  },
  onSettled(entry, { kind, answer }) {
    const here = entry.url === setup.grade;
    if (here) update(answer);
    if (kind === "refused") {
      showState("", "");
      toast(fill(say.not_taken, { reason: answer.error }), 10);
    } else {
      told(answer);
    }
  },
});

function told({ saved, progress, note, lesson, result }) {
  document.querySelector(".toast[data-kind=unsaved]")?.remove();
  showState("saved", fill(say.saved, saved));
  find("idle-undo").hidden = false;
  const sentence = progress.done > progress.goal ? say.spoken_over : say.spoken;
  speak(fill(sentence, { word: saved.word, ...progress }));
  teach(lesson, result, say);
  if (note) toast(note);
  else if (progress.done % progress.goal === 0) toast(fill(say.goal, progress), 10);
}

function grade(value) {
  if (!holding() || stepping) return;
  mark(value);
  gradeForm.dataset.busy = "";
  const fields = Object.fromEntries(new FormData(gradeForm));
  delete fields.csrfmiddlewaretoken;
  fields.grade = value;
  fields.active_ms = active.milliseconds;
  current = null;
  queue.add({ url: setup.grade, token: fields.token, fields });
  if (ahead) {
    const pair = ahead;
    ahead = null;
    show(pair);
  }
}

// -- Undo and refuse -------------------------------------------------------------------------------

async function step(url, fields, done) {
  if (stepping) return;
  stepping = true;
  // First things first: a grade that is on its way comes before what is said about it.
  const { kind, answer, why } = (await queue.drained())
    ? await post(url, fields)
    : { kind: "later", why: "offline" };
  stepping = false;
  if (kind === "later") {
    toast(why === "offline" ? say.offline_step : say[why]);
    return;
  }
  restart(answer);
  if (kind === "refused") toast(answer.error);
  else done();
}

function undo() {
  step(setup.undo, {}, () => {
    showState("", say.taken_back);
    speak(say.undone);
  });
}

function refuse(reason) {
  if (!holding()) return;
  const { seat, token } = Object.fromEntries(new FormData(find("refuse-form")));
  step(setup.refuse, { seat, token, reason }, () => {
    showState("", "");
    toast(say.passed_on, 3);
    speak(say.passed_on);
  });
}

// -- Panels ----------------------------------------------------------------------------------------

function closePops() {
  const open = pops.filter((pop) => pop.open);
  for (const pop of open) {
    if (pop.contains(document.activeElement)) document.activeElement.blur();
    pop.open = false;
  }
  return open.length > 0;
}

function openPop(pop, focused) {
  const wasOpen = pop.open;
  closePops();
  pop.open = !wasOpen;
  if (pop.open) focused.focus();
}

function noteComment() {
  find("comment").toggleAttribute("data-filled", comment.value.trim() !== "");
}

function toggle(dialog) {
  closePops();
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

// -- Keys and buttons ------------------------------------------------------------------------------

function rove(chosen) {
  for (const button of buttons) button.tabIndex = button === chosen ? 0 : -1;
}

function moveFocus(event) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const here = buttons.indexOf(event.target);
  if (!(event.key in steps) || here < 0) return;
  event.preventDefault();
  const next = buttons[(here + steps[event.key] + buttons.length) % buttons.length];
  rove(next);
  next.focus();
}

function reasons(number) {
  const buttons = find("refuse-form").querySelectorAll("[name=reason]");
  if (!find("refuse").open || number > buttons.length) return find("refuse").open;
  refuse(buttons[number - 1].value);
  return true;
}

const actions = {
  "grade-4": () => grade(4),
  "grade-3": () => grade(3),
  "grade-2": () => grade(2),
  "grade-1": () => grade(1),
  "grade-0": () => grade(0),
  undo,
  refuse: () => holding() && openPop(find("refuse"), find("refuse").querySelector("[name=reason]")),
  comment: () => holding() && openPop(find("comment"), comment),
  open: () => holding() && find("open").click(),
  live: () => holding() && live.show(!live.open),
  recent: () => { window.location.href = setup.recent; },
  guidelines: () => toggle(dialogs.guidelines),
  help: () => toggle(dialogs.help),
};

gradeForm.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.name === "grade") grade(Number(event.submitter.value));
});
gradeForm.addEventListener("keydown", moveFocus);
find("refuse-form").addEventListener("submit", (event) => {
  event.preventDefault();
  refuse(event.submitter.value);
});
for (const form of document.querySelectorAll("[data-undo-form]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    undo();
  });
}
for (const link of document.querySelectorAll("[data-guidelines]")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    toggle(dialogs.guidelines);
  });
}
for (const [name, dialog] of Object.entries(dialogs)) {
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  // The key that opened it closes it again.
  dialog.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== setup.keys[name] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    dialog.close();
  });
}
document.addEventListener("click", (event) => {
  for (const pop of pops) if (!pop.contains(event.target)) pop.open = false;
});
comment.addEventListener("input", noteComment);
find("help").hidden = false;
find("help").addEventListener("click", () => toggle(dialogs.help));
find("keys-switch").checked = keysOn();
find("keys-switch").addEventListener("change", (event) => switchKeys(event.target.checked));
window.addEventListener("beforeunload", (event) => {
  if (queue.length) event.preventDefault();
});

// While she works the pair stays hers; if it is gone all the same, she is told.
setInterval(async () => {
  if (!document.hidden) await refresh();
}, HEARTBEAT);

async function refresh() {
  if (!holding() || queue.length || stepping) return;
  const asked = current.token;
  const { kind, answer } = await get(setup.grade);
  if (kind === "done" && !queue.length && !stepping && current?.token === asked) update(answer);
}

current = setup.pair;
if (current) {
  mark(current.before);
  live.turnTo(current);
}
listen(setup.keys, actions, { reasons, escape: () => closePops() || live.leave() });
if (queue.has(current?.token)) {
  // She graded this very pair before the page was reloaded.
  gradeForm.dataset.busy = "";
  current = null;
}
if (queue.length) queue.flush();
else refresh();
