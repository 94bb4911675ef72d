"use strict";
// Writes the states that the stream brings. Everything is set as text: what others said is never read as markup.
(() => {
  const at = (id) => document.getElementById(id);
  const shown = {};

  function made(tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = String(text);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function text(value) {
    return (row) => made("td", row[value] === null || row[value] === undefined ? "-" : row[value], { dir: "auto" });
  }
  function words(value) {
    return (row) => made("td", row[value] || "-", { class: "long", dir: "auto" });
  }
  function number(value) {
    return (row) => made("td", row[value] === null || row[value] === undefined ? "-" : row[value], { class: "number" });
  }
  function names(value) {
    return (row) => made("th", row[value] || "-", { scope: "row", dir: "auto" });
  }
  // Times, names of runs and single words: broken over lines nobody can read them.
  const fixed = (make) => (row) => {
    const cell = make(row);
    cell.classList.add("fixed");
    return cell;
  };
  function state(value, mark) {
    return (row) => {
      const cell = made("td");
      cell.append(made("span", row[value], { class: "state " + mark(row) }));
      return cell;
    };
  }
  function report(row) {
    const cell = made("td");
    if (row.report) cell.append(made("a", "report", { href: "runs/" + encodeURIComponent(row.id) + "/report", "aria-label": "report of run " + row.id }));
    else cell.textContent = "-";
    return cell;
  }

  // A table: per column its title, how a row's cell is made, and whether it holds numbers.
  function table(columns, rows, none, label) {
    if (!rows.length) return made("p", none, { class: "empty" });
    const place = made("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": label + ", as a table" });
    const whole = made("table", null, { class: "plain stacks" });
    const head = made("tr");
    for (const [title, , numeric] of columns) head.append(made("th", title, { scope: "col", ...(numeric ? { class: "number" } : {}) }));
    const body = made("tbody");
    for (const row of rows) {
      const line = made("tr");
      for (const [title, make] of columns) {
        const cell = make(row);
        cell.setAttribute("data-title", title);
        line.append(cell);
      }
      body.append(line);
    }
    const top = made("thead");
    top.append(head);
    whole.append(top, body);
    place.append(whole);
    return place;
  }

  const marks = { running: "busy", done: "on", failed: "bad", interrupted: "bad" };
  const sections = {
    server: {
      sites: (s) => table([["Site", names("name")], ["State", state("state", (row) => (row.online ? "on" : ""))], ["In the latest run", words("now")],
        ["Round", number("round"), true], ["Sent", number("size"), true], ["Seconds", number("seconds"), true], ["Refusals", number("refusals"), true]],
        s.sites, "The server has not looked for its sites yet.", "Sites"),
      events: (s) => lines(s.events),
      runs: (s) => table([["Run", fixed(names("id"))], ["What", fixed(text("what"))], ["State", state("state", (row) => marks[row.state] || "")], ["Report", report],
        ["Features", number("selected"), true], ["Rounds", number("round"), true], ["Received", number("size"), true], ["Seconds", number("seconds"), true],
        ["Reason", words("reason")]],
        s.runs, "No run yet. Start one in another terminal: fedsieve federation run", "Runs"),
      refusals: (s) => table([["When", fixed(text("time"))], ["Site", names("site")], ["Round", number("round"), true], ["Why", words("reason")], ["Run", fixed(text("run"))]],
        s.refusals, "Nobody refused anything.", "Refusals"),
      about: (s) => pairs(s.about),
    },
    site: {
      consent: (s) => {
        const all = made("div");
        all.append(made("p", s.consent.words, { class: s.consent.now ? "good" : "warning" }));
        if (s.noise) all.append(made("p", s.noise));
        all.append(table([["When", fixed(names("time"))], ["What", fixed(text("what"))], ["By", text("by")], ["How", words("how")], ["About", words("about")]],
          s.consent.entries, "Nothing is recorded yet.", "Record of consent"));
        return all;
      },
      messages: (s) => {
        const all = made("div");
        if (s.left.verdict) all.append(made("p", s.left.broken ? "The record is broken: " + s.left.verdict : "Checked: " + s.left.verdict + ".", { class: s.left.broken ? "warning" : "hint" }));
        all.append(table([["No.", number("n"), true], ["When", fixed(text("time"))], ["Run", fixed(text("run"))], ["Round", number("round"), true], ["Asked for", names("title")],
          ["What left is about", text("about")], ["Size", number("size"), true], ["Refused, because", words("refused")]],
          s.left.messages, "Nothing left this site yet.", "What left"));
        return all;
      },
      runs: (s) => table([["Run", fixed(names("id"))], ["Report", report], ["Features", number("selected"), true], ["Messages", number("messages"), true], ["Left", number("size"), true],
        ["Refused", number("refused"), true], ["Beside the others", words("shift")]],
        s.runs, "No run has asked this site yet.", "Runs and results"),
      may_leave: (s) => table([["Message", names("title")], ["What it tells, and can give away", words("tells")]], s.may_leave, "There is no agreement.", "What may leave"),
      policy: (s) => table([["Rule", names("rule")], ["Value", text("value")], ["Default", (row) => made("td", row.is_default ? "yes" : "no")], ["Why", words("why")]],
        s.policy, "The rules cannot be read; nothing is answered.", "Rules"),
      about: (s) => pairs(s.about),
    },
  };

  function lines(events) {
    if (!events.length) return made("p", "Nothing has happened yet.", { class: "empty" });
    const list = made("ol", null, { class: "lines", tabindex: "0", "aria-label": "Events" });
    for (const event of events) {
      const line = made("li");
      line.append(made("time", event.time), made("span", event.words, { dir: "auto" }));
      list.append(line);
    }
    return list;
  }

  function pairs(rows) {
    const list = made("dl", null, { class: "pairs" });
    for (const row of rows) {
      const pair = made("div");
      pair.append(made("dt", row.name), made("dd", row.value, { dir: "auto" }));
      list.append(pair);
    }
    return list;
  }

  // A part is written anew only where it changed, so that nobody loses their place in the rest.
  function put(name, place, value, content) {
    const now = JSON.stringify(value);
    if (shown[name] === now) return;
    shown[name] = now;
    const held = place.contains(document.activeElement) ? document.activeElement : null;
    const scrolled = [...place.querySelectorAll(".scroll, .lines")].map((part) => [part.scrollLeft, part.scrollTop]);
    place.replaceChildren(...content());
    [...place.querySelectorAll(".scroll, .lines")].forEach((part, i) => { if (scrolled[i]) [part.scrollLeft, part.scrollTop] = scrolled[i]; });
    if (held) {
      const same = [...place.querySelectorAll(held.tagName)].find((one) => one.getAttribute("href") === held.getAttribute("href") && one.getAttribute("aria-label") === held.getAttribute("aria-label"));
      if (same) same.focus();
    }
  }

  function write(s) {
    document.title = s.title + " · FedSieve live view";
    put("title", at("title"), s.title, () => [s.title]);
    put("answer", at("answer"), s.answer, () => [s.answer]);
    put("figures", at("figures"), s.figures, () => s.figures.map((figure) => {
      const pair = made("div");
      pair.append(made("dt", figure.label), made("dd", figure.value));
      return pair;
    }));
    put("troubles", at("troubles"), s.troubles, () => s.troubles.map((words) => made("li", words, { dir: "auto" })));
    at("troubles").hidden = !s.troubles.length;
    at("at").textContent = s.at;
    for (const [name, make] of Object.entries(sections[s.kind])) {
      const content = make(s);
      put(name, at(name).querySelector(".content"), content.outerHTML, () => [content]);
    }
    document.documentElement.setAttribute("data-ready", "");
  }

  function link(words, mark) {
    at("link").textContent = words;
    at("link").className = "link " + mark;
  }

  const stream = new EventSource("events");
  stream.onmessage = (message) => {
    link("live", "live");
    write(JSON.parse(message.data));
  };
  stream.onerror = () => link(stream.readyState === EventSource.CLOSED ? "ended; reload to try again" : "lost; trying again", "lost");
})();
