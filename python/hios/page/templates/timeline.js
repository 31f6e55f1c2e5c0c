/* Timelines: the parts (plan, run) one above the other on one axis, drawn as SVG for the visible range only. */
const LANE = 34, GAP = 5, PART = 26, AXIS = 26, TOP = 20, LETTER = 6.6;
const NAME = 0, KIND = 1, START = 2, END = 3, PREDICTED = 4, MEASURED = 5, WHY = 6;
const WAIT = -1, LOAD = -2;  // instead of a kind of operators
const XML = "http://www.w3.org/2000/svg";

function escapeText(text) {
  return String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function figure3(ms) {
  return ms >= 1000 ? ms.toFixed(0) : ms.toFixed(ms >= 100 ? 1 : ms >= 10 ? 2 : 3);
}

function sizeText(bytes) {
  const [unit, scale] = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : bytes >= 1e3 ? ["kB", 1e3] : ["B", 1];
  return `${(bytes / scale).toFixed(scale > 1 && bytes / scale < 100 ? 1 : 0)} ${unit}`;
}

/* Places of the parts and lanes from top to bottom, which no zoom changes. */
function layOut(timeline) {
  let y = TOP;
  const lanes = [];
  const parts = timeline.parts.map((part) => {
    const top = y;
    y += PART;
    const first = lanes.length;
    for (const lane of part.lanes) {
      lanes.push({ lane, y });
      y += LANE + GAP;
    }
    y += 10;
    return { part, top, bottom: y - 12, first };
  });
  return { parts, lanes, height: y + AXIS };
}

function tickStep(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return power * [1, 2, 5, 10].find((factor) => power * factor * most >= span * (1 - 1e-9));
}

class Timeline {
  constructor(figure, timeline) {
    this.figure = figure;
    this.timeline = timeline;
    this.drawing = figure.querySelector(".drawing");
    this.tip = document.getElementById("tip");
    const ends = timeline.parts.map((part) => part.end);
    if (timeline.bound) ends.push(timeline.bound[0]);
    this.end = Math.max(...ends, 1e-6) * 1.012;
    this.places = layOut(timeline);
    this.items = [];  // operators, waits, loads and messages in the order of drawing, each with its element's number
    this.places.lanes.forEach(({ lane }, at) => lane.slices.forEach((slice) => this.items.push({ slice, lane: at })));
    this.places.parts.forEach(({ part, first }) => part.messages.forEach((message) => this.items.push({ message, first })));
    this.steps = this.items.map((item, at) => ({ item, at })).filter(({ item }) => item.slice && item.slice[KIND] !== WAIT)
      .sort((one, two) => one.item.slice[START] - two.item.slice[START] || one.item.lane - two.item.lane).map(({ at }) => at);
    this.svg = document.createElementNS(XML, "svg");
    this.svg.setAttribute("height", this.places.height);
    this.svg.setAttribute("aria-hidden", "true");
    this.drawing.append(this.svg);
    this.from = 0;
    this.to = this.end;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.drawing);
    this.draw();
  }

  name(number) { return this.timeline.names[number]; }

  x(ms) { return this.left + ((ms - this.from) / (this.to - this.from)) * (this.width - this.left - 12); }

  ms(x) { return this.from + ((x - this.left) / (this.width - this.left - 12)) * (this.to - this.from); }

  draw() {
    this.width = this.drawing.clientWidth;
    if (!this.width) return;
    this.left = this.width < 600 ? 70 : 128;
    const clip = `clip-${this.figure.dataset.timeline}`;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.places.height}`);
    const inside = `<defs><clipPath id="${clip}"><rect x="${this.left}" y="0" width="${this.width - this.left}" height="${this.places.height}"/></clipPath>
      <pattern id="${clip}-wait" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="var(--wait-back)"/><rect width="2" height="7" fill="var(--wait)"/></pattern></defs>`;
    this.svg.innerHTML = `${inside}${this.backText()}<g clip-path="url(#${clip})">${this.gridText()}${this.slicesText(clip)}${this.messagesText()}${this.limitsText()}</g><rect class="range" hidden/>`;
    this.highlight();
  }

  /* Lanes with their labels, and the headings of parts. */
  backText() {
    const parts = this.places.parts.map(({ part, top }) =>
      `<text class="part" x="10" y="${top + 17}">${escapeText(part.title)} <tspan class="soft" font-weight="400">${figure3(part.end)} ms</tspan></text>`);
    const lanes = this.places.lanes.map(({ lane, y }) => {
      const room = Math.floor((this.left - 16) / (LETTER * 0.88));
      const second = lane.title && this.left > 100 ? `<text class="soft" x="10" y="${y + 28}" font-size="10">${escapeText(lane.title.slice(0, room + 2))}</text>` : "";
      return `<g><title>${escapeText(lane.title ? `${lane.label}: ${lane.title}` : lane.label)}</title><rect class="lane" x="${this.left}" y="${y}" width="${this.width - this.left - 12}" height="${LANE}" rx="2"/>
        <text x="10" y="${y + (second ? 14 : 21)}">${escapeText(lane.label.slice(0, room))}</text>${second}</g>`;
    });
    return parts.join("") + lanes.join("");
  }

  gridText() {
    const step = tickStep(this.to - this.from, Math.max(3, Math.floor((this.width - this.left) / 90)));
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const bottom = this.places.height - AXIS;
    let text = "";
    for (let tick = Math.ceil(this.from / step) * step; tick <= this.to + step * 1e-6; tick += step) {
      const x = this.x(tick).toFixed(1);
      const anchor = tick === 0 ? "start" : this.width - x < 30 ? "end" : "middle";
      text += `<path class="grid" d="M${x} ${TOP}V${bottom + 4}"/><text class="soft" x="${x}" y="${bottom + 18}" text-anchor="${anchor}">${tick.toFixed(digits)}${tick === 0 ? " ms" : ""}</text>`;
    }
    return text;
  }

  slicesText(clip) {
    let text = "", drawn = [];  // right ends of the last slices by lane and kind: what is under a pixel is drawn once
    this.items.forEach(({ slice, lane }, at) => {
      if (!slice || slice[END] < this.from || slice[START] > this.to) return;
      const y = this.places.lanes[lane].y, x = this.x(slice[START]);
      const right = this.x(slice[END]), wide = Math.max(right - x, 0.6);
      const key = lane * 20 + slice[KIND] + 1;
      if (wide < 1 && drawn[key] !== undefined && right - drawn[key] < 0.7) return;
      drawn[key] = right;
      const waits = slice[KIND] === WAIT, loads = slice[KIND] === LOAD;
      const fill = waits ? `class="wait" fill="url(#${clip}-wait)"` : `class="${loads ? "load" : `op kind-${slice[KIND]}`}"`;
      const high = waits ? [y + 8, LANE - 16] : loads ? [y + 5, LANE - 10] : [y, LANE];
      text += `<rect ${fill} data-at="${at}" x="${x.toFixed(2)}" y="${high[0]}" width="${wide.toFixed(2)}" height="${high[1]}" rx="1.5"/>`;
      const shown = [Math.max(x, this.left), Math.min(right, this.width - 12)];
      if (!waits) text += this.labelText(this.name(slice[NAME]), shown, y);
    });
    return text;
  }

  /* The name of an operator if it has room, or its end, where names of nodes differ. */
  labelText(name, [left, right], y) {
    const room = Math.floor((right - left - 6) / LETTER);
    const short = name.length <= room ? name : name.includes("/") && room >= 5 ? `…${name.slice(1 - room)}` : "";
    return short && `<text class="label" x="${((left + right) / 2).toFixed(1)}" y="${y + 21}" text-anchor="middle">${escapeText(short)}</text>`;
  }

  curve([, from, to, start, end], first, head) {
    const one = this.places.lanes[first + from], two = this.places.lanes[first + to];
    const down = two.y >= one.y;
    const [x1, x2] = [this.x(start), this.x(end)];
    const [y1, y2] = [one.y + (down ? LANE - 4 : 4), two.y + (down ? 2 : LANE - 2)];
    const bend = (y2 - y1) * 0.5;
    return { line: `M${x1.toFixed(1)} ${y1}C${x1.toFixed(1)} ${y1 + bend} ${x2.toFixed(1)} ${y2 - bend} ${x2.toFixed(1)} ${y2}`,
      head: `M${x2.toFixed(1)} ${y2}l${-head} ${down ? -2 * head : 2 * head}h${2 * head}z` };
  }

  messagesText() {
    let text = "";
    const visible = ({ message }) => message && message[4] >= this.from && message[3] <= this.to;
    const size = this.items.filter(visible).length > this.width / 25 ? 2 : 3.5;
    this.items.forEach((item, at) => {
      if (!visible(item)) return;
      const { line, head } = this.curve(item.message, item.first, size);
      text += `<path class="send" data-of="${at}" d="${line}"/><path class="head" d="${head}"/><path class="reach" data-at="${at}" d="${line}"/>`;
    });
    return text;
  }

  /* The end of each part, and the lower bound as a dashed line through all. */
  limitsText() {
    let text = "";
    for (const { part, top, bottom } of this.places.parts) {
      const x = this.x(part.end).toFixed(1);
      text += `<path class="end" d="M${x} ${top + PART - 4}V${bottom}"/>`;
    }
    if (this.timeline.bound) {
      const [ms, name] = this.timeline.bound, x = this.x(ms);
      const before = x - this.left > this.width - x;
      const room = (before ? x - this.left : this.width - x) - 12;
      const labels = [`lower bound ${figure3(ms)} ms${name ? ` (${name})` : ""}`, `lower bound ${figure3(ms)} ms`, "bound"];
      const label = labels.find((text) => text.length * LETTER * 0.92 < room) || "";
      text += `<path class="bound" d="M${x.toFixed(1)} 4V${this.places.height - AXIS}"/>
        <text x="${(before ? x - 7 : x + 7).toFixed(1)}" y="14" text-anchor="${before ? "end" : "start"}">${escapeText(label)}</text>`;
    }
    return text;
  }

  zoom(factor, about = (this.from + this.to) / 2) {
    const span = Math.min(this.end, Math.max((this.to - this.from) * factor, this.end / 20000));
    const share = (about - this.from) / (this.to - this.from);
    this.show(about - share * span, about - share * span + span);
  }

  show(from, to) {
    const span = to - from;
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = Math.min(this.end, this.from + span);
    if (!this.waiting) requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    this.waiting = true;
  }

  pan(share) {
    const by = share * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  rows(item) {
    if (item.message) {
      const [, from, to, start, end, bytes] = item.message;
      const lanes = this.places.lanes, lane = (at) => lanes[item.first + at].lane.label;
      const rows = [["message", `${lane(from)} → ${lane(to)}`], ["sent", `${figure3(start)} ms`], ["arrives", `${figure3(end)} ms`], ["takes", `${figure3(Math.max(0, end - start))} ms`]];
      return bytes === null ? rows : [...rows, ["size", sizeText(bytes)]];
    }
    const slice = item.slice, { lane } = this.places.lanes[item.lane];
    const where = lane.title ? `${lane.label}, ${lane.title}` : lane.label;
    const rows = [["on", where], ["start", `${figure3(slice[START])} ms`], ["end", `${figure3(slice[END])} ms`], ["takes", `${figure3(slice[END] - slice[START])} ms`]];
    if (slice[KIND] === WAIT) return slice[WHY] === undefined ? rows : [...rows, ["waits", this.name(slice[WHY])]];
    if (slice[KIND] === LOAD && slice[WHY] !== undefined) rows.push(["goes", this.name(slice[WHY])]);
    if (slice[KIND] >= 0) rows.unshift(["kind", data.kinds[slice[KIND]]]);
    if (slice[PREDICTED] !== null) rows.push(["predicted", `${figure3(slice[PREDICTED])} ms`]);
    if (slice[MEASURED] !== null) rows.push(["measured", `${figure3(slice[MEASURED])} ms`]);
    if (slice[PREDICTED] && slice[MEASURED] !== null) rows.push(["ratio", `${(slice[MEASURED] / slice[PREDICTED]).toFixed(2)}x`]);
    return rows;
  }

  title(item) { return item.message ? `${this.name(item.message[NAME])}` : this.name(item.slice[NAME]); }

  explain(at, x, y) {
    const item = this.items[at];
    this.tip.innerHTML = `<b>${escapeText(this.title(item))}</b>${this.rows(item).map(([name, text]) => `<span class="row"><span>${name}</span><span>${escapeText(text)}</span></span>`).join("")}`;
    this.tip.hidden = false;
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - wide - 8))}px`;
    this.tip.style.top = `${y + 18 + high > innerHeight ? Math.max(4, y - high - 12) : y + 18}px`;
    this.over = at;
    this.highlight();
  }

  leave() {
    this.tip.hidden = true;
    this.over = undefined;
    this.highlight();
  }

  /* Outlines the operator in all parts, and thickens the messages of its tensor; or dims all but one kind. */
  highlight() {
    const item = this.over === undefined ? null : this.items[this.over];
    const wanted = item && (item.message ? item.message[NAME] : item.slice[KIND] >= 0 ? item.slice[NAME] : null);
    for (const rect of this.svg.querySelectorAll(".op")) {
      const slice = this.items[rect.dataset.at].slice;
      rect.classList.toggle("same", wanted !== null && slice[NAME] === wanted);
      rect.classList.toggle("dim", this.only !== undefined && slice[KIND] !== this.only);
    }
    for (const path of this.svg.querySelectorAll(".send")) {
      path.classList.toggle("over", wanted !== null && this.items[path.dataset.of].message[NAME] === wanted);
    }
  }

  step(by) {
    const now = this.steps.indexOf(this.over);
    const at = this.steps[now < 0 ? 0 : Math.min(this.steps.length - 1, Math.max(0, now + by))];
    if (at === undefined) return;
    const { slice, lane } = this.items[at];
    const span = this.to - this.from;
    if (slice[START] < this.from || slice[END] > this.to) this.show(slice[START] - span / 4, slice[START] + (span * 3) / 4);
    const box = this.svg.getBoundingClientRect();
    this.explain(at, box.left + Math.max(this.left, this.x((slice[START] + slice[END]) / 2)), box.top + this.places.lanes[lane].y + LANE - 12);
    document.getElementById("spoken").textContent = `${this.title(this.items[at])}, ${this.rows(this.items[at]).map((row) => row.join(" ")).join(", ")}`;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), w: () => this.zoom(0.6), "-": () => this.zoom(1 / 0.6), s: () => this.zoom(1 / 0.6),
      ArrowLeft: () => this.pan(-0.2), a: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), d: () => this.pan(0.2),
      "0": () => this.show(0, this.end), Home: () => this.show(0, this.end), Escape: () => { this.leave(); this.show(0, this.end); },
      ".": () => this.step(1), ",": () => this.step(-1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  wheel(event) {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const focused = document.activeElement === this.drawing;
    if (!focused && !event.ctrlKey) return;  // the page scrolls on
    event.preventDefault();
    const x = event.clientX - this.svg.getBoundingClientRect().left;
    if (sideways) this.pan((event.deltaX || event.deltaY) / 800);
    else this.zoom(Math.exp(event.deltaY / 500), this.ms(x));
  }

  /* A drag chooses a range to zoom into; with Shift it moves the visible range. */
  press(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const left = this.svg.getBoundingClientRect().left;
    const start = event.clientX - left;
    if (start < this.left) return;
    const before = [this.from, this.to];
    const range = () => this.svg.querySelector(".range");
    this.drawing.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const x = Math.min(this.width - 12, Math.max(this.left, moved.clientX - left));
      if (event.shiftKey) {
        const by = ((start - x) / (this.width - this.left - 12)) * (before[1] - before[0]);
        this.show(before[0] + by, before[1] + by);
        return;
      }
      range().removeAttribute("hidden");
      range().setAttribute("x", Math.min(x, start));
      range().setAttribute("width", Math.abs(x - start));
      range().setAttribute("y", TOP);
      range().setAttribute("height", this.places.height - AXIS - TOP);
    };
    const up = (released) => {
      this.drawing.removeEventListener("pointermove", move);
      const x = released.clientX - left;
      range().setAttribute("hidden", "");
      range().setAttribute("width", 0);
      if (!event.shiftKey && Math.abs(x - start) > 5) this.show(this.ms(Math.min(x, start)), this.ms(Math.max(x, start)));
    };
    this.drawing.addEventListener("pointermove", move);
    this.drawing.addEventListener("pointerup", up, { once: true });
  }

  listen() {
    this.drawing.addEventListener("pointermove", (event) => {
      const at = event.target.dataset && event.target.dataset.at;
      if (at !== undefined) this.explain(Number(at), event.clientX, event.clientY);
      else if (this.over !== undefined) this.leave();
    });
    this.drawing.addEventListener("pointerleave", () => this.leave());
    this.drawing.addEventListener("blur", () => this.leave());
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.drawing.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.drawing.addEventListener("pointerdown", (event) => this.press(event));
    this.drawing.addEventListener("dblclick", () => this.show(0, this.end));
    const actions = { in: () => this.zoom(0.6), out: () => this.zoom(1 / 0.6), all: () => this.show(0, this.end) };
    for (const button of this.figure.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    this.figure.querySelector(".controls").hidden = false;
    for (const entry of this.figure.parentElement.querySelectorAll(".legend [data-kind]")) {
      entry.addEventListener("pointerenter", () => { this.only = Number(entry.dataset.kind); this.highlight(); });
      entry.addEventListener("pointerleave", () => { this.only = undefined; this.highlight(); });
    }
  }
}

function startTimeline(figure) {
  const timeline = data.timelines[figure.dataset.timeline];
  if (timeline && !figure.dataset.started) {
    figure.dataset.started = "yes";
    new Timeline(figure, timeline);
  }
}
