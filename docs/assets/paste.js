// Finds the messages of the knowledge base in pasted text, in the browser: the anchors of all templates are looked up in the
// text without white space, and the template's pattern decides on the text around a hit, as src/cudnn_triage/matching.py does.
// paste-index.json is made by scripts/paste_index.py. No request leaves for anywhere else.
"use strict";

const LONGEST = 300000; // characters that are looked at: the first third and the last two thirds of a longer text
const MARGIN = 120; // characters of white space and wrapping that a message may contain beyond its own length
const MOST = 50; // hits of one template that are looked at
const IF = 0.25; // what an argument weighs that depends on facts, which this page does not read
const WORTH = 0.2; // causes with less than this share of the best one's score are not shown
const FIRST = 5; // letters of an anchor by which templates are looked up; those with a shorter one, or none, are always tried
const BLANK = "\u0001";

function squeeze(text) {
  const places = [];
  let squeezed = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 32 || (code >= 9 && code <= 13) || code === 0xa0) continue;
    squeezed += code < 128 ? text[i].toLowerCase() : text[i];
    places.push(i);
  }
  return { squeezed, places };
}

function plain(text) {
  text = text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"').replace(/\r\n?/g, "\n");
  text = text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "").replace(/&quot;/g, '"').replace(/&#39;|&#x27;/g, "'");
  text = text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  if (text.length > LONGEST) text = text.slice(0, LONGEST / 3) + "\n" + text.slice(-(2 * LONGEST) / 3);
  return text;
}

function codeOf(index, kind, library, value) {
  if (kind === "code") {
    const number = value.startsWith("-") ? -Number(value.slice(1)) : Number(value);
    return (index.numbers[library] || {})[String(number)];
  }
  const texts = index.texts[library] || {};
  const squeezed = squeeze(value).squeezed;
  let best = "";
  for (const text in texts) if (squeezed.startsWith(text) && text.length > best.length) best = text;
  return texts[best];
}

function lineAround(text, start, end) {
  const next = text.indexOf("\n", end);
  return text.slice(text.lastIndexOf("\n", start - 1) + 1, next < 0 ? text.length : next);
}

const patterns = new WeakMap(); // the regular expression of each template that was asked for: to build one takes longer than to use it

function patternOf(template) {
  const [, , pattern, flags] = template;
  if (!patterns.has(template)) patterns.set(template, new RegExp(pattern.replaceAll(BLANK, "\\s*"), flags + "g"));
  return patterns.get(template);
}

const shelves = new WeakMap(); // of each index: its rules by id, its templates by the first letters of their anchors

function shelvesOf(index) {
  if (!shelves.has(index)) {
    const byId = new Map(index.rules.map((rule) => [rule.id, rule]));
    const byStart = new Map();
    index.templates.forEach(([, anchor], i) => {
      const start = anchor.slice(0, FIRST);
      if (!byStart.has(start)) byStart.set(start, []);
      byStart.get(start).push(i);
    });
    shelves.set(index, { byId, byStart });
  }
  return shelves.get(index);
}

// The templates whose anchor may stand in a text, in the order of the index.
function candidates(index, byStart, squeezed) {
  const starts = new Set();
  for (let i = 0; i + FIRST <= squeezed.length; i++) starts.add(squeezed.slice(i, i + FIRST));
  for (const start of byStart.keys()) if (start.length < FIRST) starts.add(start);
  const numbers = [...starts].flatMap((start) => byStart.get(start) || []);
  return numbers.sort((a, b) => a - b).map((i) => index.templates[i]);
}

// Every message found: {rule, start, end}, in the order of the text.
function find(index, pasted) {
  const text = plain(pasted);
  const { squeezed, places } = squeeze(text);
  const { byId, byStart } = shelvesOf(index);
  const lowered = text.toLowerCase();
  const found = new Map();
  for (const template of candidates(index, byStart, squeezed)) {
    const [number, anchor, , , before, after, coded, words] = template;
    if (words && !words.every((list) => list.some((word) => lowered.includes(word)))) continue;
    let at = squeezed.indexOf(anchor);
    let without = ""; // the window in which the pattern was last looked for in vain
    for (let hits = 0; at >= 0 && hits < MOST; hits++, at = squeezed.indexOf(anchor, at + 1)) {
      const from = Math.max(0, places[at] - before - MARGIN);
      const to = Math.min(text.length, places[at + anchor.length - 1] + after + MARGIN);
      const line = Math.max(text.lastIndexOf("\n", from - 1) + 1, from - 4000);
      const next = text.indexOf("\n", to);
      const window = text.slice(line, next < 0 ? text.length : Math.min(next, to + 4000));
      if (window === without) continue;
      const regex = patternOf(template);
      regex.lastIndex = 0;
      const first = regex.exec(window);
      if (!first) without = window;
      for (let match = first; match; match = regex.exec(window)) {
        const start = line + match.index;
        const end = start + match[0].length;
        if (start > places[at]) break;
        if (end > places[at]) {
          for (const rule of meant(index, byId, index.rules[number], coded, match)) {
            const around = lineAround(text, start, end).toLowerCase();
            if (!(rule.unless || []).some((word) => around.includes(word))) {
              const key = rule.id;
              if (!found.has(key) || start < found.get(key).start) found.set(key, { rule, start, end });
            }
          }
          break;
        }
        if (match[0] === "") regex.lastIndex++;
      }
    }
  }
  return { text, found: [...found.values()].sort((a, b) => a.start - b.start) };
}

// The rule of a match; the codes that its holes name, where there are such.
function meant(index, byId, rule, coded, match) {
  if (!coded) return [rule];
  const codes = coded.map(([group, kind, library]) => match[group] && codeOf(index, kind, library, match[group]));
  if (codes.some((code) => !code)) return [];
  const named = codes.map((code) => byId.get(code)).filter(Boolean);
  return rule.lists_codes ? named : [rule, ...named];
}

// What counts: codes and catch-alls only where no specific message covers their line; echoes are marked, not counted.
function weigh(index, { text, found }) {
  const row = (at) => text.slice(0, at).split("\n").length;
  const covered = new Set();
  for (const hit of found) {
    [hit.first, hit.last] = [row(hit.start), row(hit.end)];
    if (!hit.rule.catch_all && hit.rule.points.length) for (let i = hit.first; i <= hit.last; i++) covered.add(i);
  }
  const kept = found.filter((hit) => !hit.rule.catch_all || !covered.has(hit.first));
  const there = new Set(kept.map((hit) => hit.rule.id));
  for (const hit of kept) {
    for (const [cause, strength, supports, conditional] of hit.rule.points)
      if (supports && !conditional && (strength === "certain" || strength === "strong") && !(hit.rule.symptom_of || []).includes(cause)) there.add(cause);
  }
  for (const hit of kept) hit.echo = (hit.rule.symptom_of || []).find((root) => there.has(root));
  const scores = new Map();
  for (const hit of kept) {
    if (hit.echo) continue;
    const strongest = new Map();
    for (const [cause, strength, supports, conditional] of hit.rule.points) {
      if (conditional && !supports) continue;
      const sure = (hit.rule.survived ? index.weights.notice : 1) * (conditional ? IF : 1);
      const value = index.weights[strength] * (supports ? sure : -sure);
      if (!strongest.has(cause) || Math.abs(value) > Math.abs(strongest.get(cause))) strongest.set(cause, value);
    }
    for (const [cause, value] of strongest) scores.set(cause, [...(scores.get(cause) || []), value]);
  }
  const ranked = [...scores].map(([cause, values]) => {
    values.sort((a, b) => Math.abs(b) - Math.abs(a));
    return { cause, score: values.reduce((sum, value, i) => sum + value * (i ? index.weights.again : 1), 0) };
  });
  ranked.sort((a, b) => b.score - a.score);
  return { hits: kept, causes: ranked.filter((c) => c.score > 0 && c.score >= WORTH * ranked[0].score) };
}

function look(index, pasted) {
  return weigh(index, find(index, pasted));
}

function show(index, answer, base) {
  const element = (name, text, href) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (href) made.href = base + href;
    return made;
  };
  const out = document.createDocumentFragment();
  const list = (title, items) => {
    if (!items.length) return;
    out.append(element("h2", title));
    const made = element("ul");
    for (const parts of items) {
      const item = element("li");
      item.append(...parts);
      made.append(item);
    }
    out.append(made);
  };
  const serious = answer.causes.filter((c) => index.causes[c.cause].severity !== "benign");
  const harmless = answer.causes.filter((c) => index.causes[c.cause].severity === "benign");
  const cause = ({ cause }) => [element("a", index.causes[cause].title, index.causes[cause].page)];
  list("What it points to, likeliest first", serious.slice(0, 6).map(cause));
  list("Harmless, or not about the GPU", harmless.slice(0, 4).map(cause));
  const hits = answer.hits.filter((hit) => hit.rule.page).slice(0, 40);
  list(
    "Messages in it",
    hits.map((hit) => {
      const parts = [`line ${hit.first}: `, element("a", hit.rule.id, hit.rule.page), ` ${hit.rule.title}`];
      if (hit.echo) parts.push(` (an echo of ${hit.echo})`);
      return parts;
    }),
  );
  if (!hits.length) out.append(element("p", "No message of the knowledge base is in this text. Is the line with the error in it?"));
  return out;
}

if (typeof document !== "undefined" && document.getElementById("paste")) {
  const box = document.getElementById("pasted");
  const answer = document.getElementById("pasted-answer");
  const base = new URL("..", location.href).href;
  let index = null;
  let waiting = 0;
  const update = async () => {
    if (!box.value.trim()) return answer.replaceChildren();
    try {
      index = index || (await (await fetch(base + document.getElementById("paste").dataset.index)).json());
      answer.replaceChildren(show(index, look(index, box.value), base));
    } catch (error) {
      answer.textContent = `The index of messages could not be loaded (${error.message}). Open this page from a web server.`;
    }
  };
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 200);
  });
  const linked = /^#m=(.+)$/.exec(location.hash); // a link to this page with a message in it
  if (linked) {
    try {
      box.value = decodeURIComponent(linked[1]);
    } catch {
      box.value = linked[1]; // cut in the middle of an escape
    }
  }
  update();
}

if (typeof module !== "undefined") module.exports = { look };
