// Training: what was expected, before the next pair is looked at.

import { fill } from "./pair.js";

const find = (name) => document.querySelector(`[data-${name}]`);

export function paintTraining(training, say) {
  find("training").hidden = !training;
  if (training) find("training").textContent = fill(say.training, training);
}

export function teach(lesson, result, say) {
  const dialog = document.getElementById("lesson");
  if (!dialog || !lesson) return;
  dialog.dataset.right = String(lesson.right);
  find("lesson-title").textContent = lesson.right ? say.lesson_right : say.lesson_wrong;
  find("lesson-query").textContent = lesson.query;
  find("lesson-document").textContent = lesson.title;
  find("lesson-dot").className = `dot g${lesson.expected}`;
  find("lesson-word").textContent = fill(say.lesson_word, lesson);
  find("lesson-sentence").textContent = lesson.sentence;
  find("lesson-note").textContent = lesson.note;
  find("lesson-note").hidden = !lesson.note;
  find("lesson-on").hidden = Boolean(result);
  find("lesson-result").hidden = !result;
  if (result) find("lesson-result").href = result;
  find("lesson-on").onclick = () => dialog.close();
  dialog.showModal();
  (result ? find("lesson-result") : find("lesson-on")).focus();
}
