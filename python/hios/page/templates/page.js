/* The page: tabs of runs, the scheme, and the start of all parts. */
const data = JSON.parse(document.getElementById("data").textContent);

function showRun(id, focus) {
  for (const run of document.querySelectorAll("article.run")) run.hidden = run.id !== `run-${id}`;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const chosen = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) tab.focus();
  }
  const run = document.getElementById(`run-${id}`);
  if (run) for (const figure of run.querySelectorAll("figure.timeline")) startTimeline(figure);
}

function startTabs() {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => showRun(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step ? tabs[(at + step + tabs.length) % tabs.length] : { Home: tabs[0], End: tabs[tabs.length - 1] }[event.key];
      if (!next) return;
      event.preventDefault();
      showRun(next.id.slice(4), true);
    });
  });
  for (const button of document.querySelectorAll("button.show")) {
    button.addEventListener("click", () => {
      showRun(button.dataset.run);
      document.getElementById(`run-${button.dataset.run}`).scrollIntoView({ block: "start" });
    });
  }
}

function startScheme() {
  const root = document.documentElement;
  const button = document.getElementById("scheme");
  const dark = () => (root.dataset.scheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = dark() ? "light" : "dark"; };
  button.addEventListener("click", () => { root.dataset.scheme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  button.setAttribute("aria-label", "change between light and dark");
  button.hidden = false;
  name();
}

startTables();
startTabs();
startScheme();
if (data.first !== null) showRun(data.first);
for (const figure of document.querySelectorAll(".difference figure.timeline")) startTimeline(figure);
document.documentElement.dataset.ready = "yes";
