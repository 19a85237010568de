// Keys, and news from the server every few seconds. Every page works without this file, by its forms and links.
"use strict";

const EVERY = 4000;
const page = document.body.dataset;
const keysOn = document.getElementById("keys-on");

// A verdict is sent once, however often a button is pressed.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", (event) => {
  // A page that the browser had kept: its forms may be sent again, and its numbers are old.
  for (const form of document.querySelectorAll("form[method=post]")) delete form.dataset.sent;
  if (event.persisted) news();
});

// Whoever reads by ear or steers by keyboard begins at the heading, not at the top of the page.
document.getElementById("heading")?.focus({ preventScroll: true });

function act(key) {
  const other = { ArrowRight: "n", ArrowLeft: "b" }[key] ?? key.toLowerCase();
  const target = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === other);
  if (!target) return false;
  if (target.matches("button, a")) target.click();
  else (target.matches("select") ? target : target.querySelector("button")).focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!keysOn?.checked) return;
  if (event.key === "?") {
    const help = document.getElementById("help");
    help.open = !help.open;
    if (help.open) help.querySelector("summary").focus();
    event.preventDefault();
  } else if (act(event.key)) {
    event.preventDefault();
  }
});

try {
  if (keysOn) {
    keysOn.checked = localStorage.getItem("lnp-keys") !== "off";
    keysOn.addEventListener("change", () => localStorage.setItem("lnp-keys", keysOn.checked ? "on" : "off"));
  }
} catch {
  // No storage: keys are on, and the choice lasts as long as the page.
}

function notice(text, kind) {
  const area = document.getElementById("notices");
  if ([...area.children].some((one) => one.textContent === text)) return;
  const line = document.createElement("p");
  line.className = `notice ${kind}`;
  line.textContent = text;
  area.append(line);
}

function showTraining(training) {
  const card = document.getElementById("training");
  if (!card) return;
  if (training.state !== card.dataset.state) {
    location.reload();
    return;
  }
  const stage = document.getElementById("stage");
  const bar = document.getElementById("epochs");
  if (!stage || !bar) return;
  if (stage.textContent !== training.stage) stage.textContent = training.stage;
  document.getElementById("epoch").textContent = training.epochs ? `${training.epoch} of ${training.epochs}` : "";
  if (training.epochs) {
    bar.max = training.epochs;
    bar.value = training.epoch;
  } else {
    bar.removeAttribute("value");
  }
}

async function news() {
  if (document.hidden || !document.getElementById("notices")) return;
  const query = page.node === undefined ? "" : `?node=${page.node}&seen=${page.seen}`;
  let status;
  try {
    const answer = await fetch(`/status${query}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error();
    status = await answer.json();
  } catch {
    notice("The review does not answer. If it was stopped, start it again; what was saved is kept.", "warning");
    return;
  }
  for (const one of document.querySelectorAll("[data-count]")) one.textContent = status[one.dataset.count];
  const bar = document.getElementById("progress");
  bar.max = status.total;
  bar.value = status.done + status.skipped;
  const looking = document.getElementById("looking");
  if (looking) {
    const verb = status.looking.length === 1 ? "is" : "are";
    const text = status.looking.length ? `${status.looking.join(", ")} ${verb} looking at this node too.` : "";
    if (looking.textContent !== text) looking.textContent = text;
  }
  if (status.news) notice(status.news, "warning");
  if (String(status.version) !== page.version) notice("A new model is in use: load the page anew for its scores.", "saved");
  showTraining(status.training);
}

const training = document.getElementById("training");
setInterval(news, training?.dataset.state === "running" ? 1000 : EVERY);
