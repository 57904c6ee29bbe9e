"use strict";
/* Shows the data of a page.  Every text goes into an element as text, never as markup. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dims = new Map(Object.entries(data.values).map(([name, value]) => [name, BigInt(value)]));
  const MOST_FOUND = 60; // results of a search that are listed
  const MOST_DETAILS = 40; // nodes of a box that are listed
  const LARGE = 1200; // boxes from which on edges are left out while the graph moves
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const COLOURS = dark
    ? { ink: "#f0f6fc", line: "#6e7681", mark: "#ff7b72", pick: "#f2cc60", compute: "#21262d", move: "#1f4b6e", input: "#1b4d2b", output: "#5a3d13" }
    : { ink: "#1f2328", line: "#8c959f", mark: "#cf222e", pick: "#0969da", compute: "#f3f4f6", move: "#cfe8ff", input: "#d4f4dc", output: "#ffe9c7" };
  const refreshers = [];

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  // ---------------------------------------------------------------- values of expressions

  const number = (tree) => Expressions.text(Expressions.evaluate(tree, dims));

  function sizes(k) {
    const extents = data.shapes[k].extents;
    return extents === null ? "?" : `(${extents.map(number).join(", ")}${extents.length === 1 ? "," : ""})`;
  }

  function withSizes(k) {
    const now = make("span", { class: "now" });
    const shown = make("span", { class: "shape" }, data.shapes[k].text, now);
    const refresh = () => { const text = sizes(k); now.textContent = text === data.shapes[k].text ? "" : ` = ${text}`; };
    refresh();
    refreshers.push([now, refresh]);
    return shown;
  }

  function refreshAll() {
    for (let k = refreshers.length - 1; k >= 0; k -= 1) {
      const [element, refresh] = refreshers[k];
      if (element === null || element.isConnected) refresh();
      else refreshers.splice(k, 1);
    }
  }

  // ---------------------------------------------------------------- dims and requirements

  function dimRow(d) {
    const low = d.min === null ? -64 : Number(d.min);
    const high = d.max === null ? Math.max(low + 512 * d.step, 2 * Number(data.values[d.name])) : Number(d.max);
    const first = d.step > 1 ? Math.ceil(low / d.step) * d.step : low;
    const common = { min: first, max: high, step: d.step, value: data.values[d.name] };
    const range = make("input", { type: "range", ...common, "aria-label": d.name });
    const box = make("input", { type: "number", ...common, max: d.max === null ? false : d.max, "aria-label": d.name, id: `dim-${d.name}` });
    const set = (text) => {
      if (!/^-?\d{1,19}$/.test(text)) return;
      dims.set(d.name, BigInt(text));
      range.value = box.value = text;
      refreshAll();
    };
    range.addEventListener("input", () => set(range.value));
    box.addEventListener("input", () => set(box.value));
    refreshers.push([null, () => { const value = dims.get(d.name).toString(); if (box.value !== value) range.value = box.value = value; }]);
    const bounds = d.max === null ? `${d.min === null ? "any" : `at least ${d.min}`}` : `${d.min === null ? "at most" : `${d.min} to`} ${d.max}`;
    const steps = d.step > 1 ? `, a multiple of ${d.step}` : "";
    return make("div", { class: "dim", title: bounds + steps }, make("label", { for: `dim-${d.name}` }, d.name), range, box);
  }

  function bound(d) {
    const value = dims.get(d.name);
    return (d.min === null || value >= BigInt(d.min)) && (d.max === null || value <= BigInt(d.max)) && value % BigInt(d.step) === 0n;
  }

  function requirement(r) {
    const mark = make("span", { class: "state" });
    const by = r.by.length ? make("div", { class: "by" }, r.by.join("; ")) : null;
    const row = make("li", {}, mark, r.text, by);
    const refresh = () => {
      const holds = Expressions.evaluate(r.tree, dims);
      row.className = holds === null ? "open" : holds ? "holds" : "fails";
      mark.textContent = holds === null ? "? " : holds ? "✓ " : "✗ ";
    };
    refresh();
    refreshers.push([null, refresh]);
    return row;
  }

  function bounds() {
    const row = make("li", {});
    const refresh = () => {
      const outside = data.dims.filter((d) => !bound(d)).map((d) => d.name);
      row.className = outside.length ? "fails" : "holds";
      row.textContent = outside.length ? `✗ outside its bounds: ${outside.join(", ")}` : "✓ every dim is within its bounds";
    };
    refresh();
    refreshers.push([null, refresh]);
    return row;
  }

  // ---------------------------------------------------------------- graphs

  const panes = data.graphs.map((graph, k) => new Map([["graph", graph], ["number", k], ["view", 0]]));
  const details = make("div", { id: "details" }, make("p", { class: "soft" }, "Click on a box to see its nodes and every shape."));

  function indexOf(graph) {
    const byValue = new Map(); // the box of a value, by its name
    const byNode = new Map();
    graph.boxes.forEach(([, , , nodes, values], k) => {
      nodes.forEach((n) => byNode.set(n, k));
      values.forEach((value) => byValue.set(value, k));
    });
    graph.nodes.forEach(([, , , outputs], n) => outputs.forEach(([name]) => { if (byNode.has(n)) byValue.set(name, byNode.get(n)); }));
    return { byValue, byNode };
  }

  function elementsOf(graph, view, marked) {
    const elements = [];
    view.frames.forEach(([x, y, width, height, text], k) => elements.push({
      group: "nodes", data: { id: `f${k}`, text, width, height }, position: { x: x + width / 2, y: y + height / 2 }, classes: "frame", selectable: false, grabbable: false,
    }));
    const places = view.boxes.map(([, x, y]) => [x, y]);
    view.boxes.forEach(([first, x, y, width, height], p) => {
      const [kind, lines, shape] = graph.boxes[first];
      const text = [...lines, ...(shape < 0 ? [] : [data.shapes[shape].text])].join("\n");
      elements.push({ group: "nodes", data: { id: `b${p}`, text, width, height, shape, lines }, position: { x, y }, classes: `box ${kind}`, grabbable: false });
    });
    marked.forEach((box) => { const e = elements[view.frames.length + view.place[box]]; e.classes += " marked"; });
    view.edges.forEach(([a, b, route], k) => {
      const [sx, sy, ...rest] = route;
      const [tx, ty] = rest.slice(-2);
      const length2 = (tx - sx) ** 2 + (ty - sy) ** 2 || 1;
      const length = Math.sqrt(length2);
      const weights = [], distances = [];
      for (let q = 0; q + 2 < rest.length; q += 2) {
        const dx = rest[q] - sx, dy = rest[q + 1] - sy;
        weights.push((dx * (tx - sx) + dy * (ty - sy)) / length2);
        distances.push((dy * (tx - sx) - dx * (ty - sy)) / length);
      }
      const ends = { from: `${sx - places[a][0]}px ${sy - places[a][1]}px`, to: `${tx - places[b][0]}px ${ty - places[b][1]}px` };
      elements.push({ group: "edges", data: { id: `e${k}`, source: `b${a}`, target: `b${b}`, ...ends, weights, distances }, classes: weights.length ? "bent" : "", selectable: false });
    });
    return elements;
  }

  const STYLE = [
    { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: "data(height)", label: "data(text)", color: COLOURS.ink, "border-width": 1, "border-color": COLOURS.line, "font-family": "DejaVu Sans Mono, Menlo, Consolas, monospace", "font-size": 10.5, "text-wrap": "wrap", "text-max-width": (e) => `${e.data("width") - 4}px`, "text-valign": "center", "text-halign": "center", "line-height": 1.2, "min-zoomed-font-size": 4, "background-opacity": 1 } },
    ...["compute", "move", "input", "output"].map((kind) => ({ selector: `.${kind}`, style: { "background-color": COLOURS[kind] } })),
    { selector: ".frame", style: { "background-opacity": 0, "border-style": "dashed", "text-valign": "top", "text-halign": "center", "font-weight": "bold", events: "no", "z-index": 0 } },
    { selector: ".move", style: { shape: "round-rectangle", "corner-radius": 13 } },
    { selector: ".marked", style: { "border-color": COLOURS.mark, "border-width": 3 } },
    { selector: ".box:selected", style: { "border-color": COLOURS.pick, "border-width": 4 } },
    { selector: "edge", style: { width: 1.2, "line-color": COLOURS.line, "target-arrow-color": COLOURS.line, "target-arrow-shape": "triangle", "arrow-scale": 0.7, "curve-style": "straight", "source-endpoint": "data(from)", "target-endpoint": "data(to)" } },
    { selector: ".bent", style: { "curve-style": "round-segments", "segment-radii": 6, "edge-distances": "endpoints", "segment-weights": "data(weights)", "segment-distances": "data(distances)" } },
  ];

  function showView(pane, number) {
    const graph = pane.get("graph");
    const view = graph.views[number];
    pane.set("view", number);
    if (pane.has("cy")) pane.get("cy").destroy();
    const elements = elementsOf(graph, view, pane.get("marked"));
    const many = elements.length > LARGE;
    const cy = cytoscape({
      container: pane.get("canvas"), elements, style: STYLE, layout: { name: "preset", fit: true, padding: 12 },
      minZoom: 0.01, maxZoom: 4, hideEdgesOnViewport: many, textureOnViewport: false, boxSelectionEnabled: false, autoungrabify: true,
    });
    cy.on("tap", "node.box", (event) => {
      const drawn = Number(event.target.id().slice(1));
      describe(pane, view.boxes[drawn][0]);
    });
    pane.set("cy", cy);
    relabel(pane);
    begin(pane);
  }

  function begin(pane) {
    const cy = pane.get("cy");
    const marked = cy.$(".marked");
    if (marked.nonempty()) cy.fit(marked.union(marked.neighborhood()), 60);
    if (cy.zoom() > 1.2) { cy.zoom(1.2); cy.center(marked.nonempty() ? marked : undefined); }
    else if (marked.empty() && cy.zoom() < 0.5) { // a large graph begins at its first box, in a size that can be read
      const first = cy.$("#b0");
      cy.zoom(0.8);
      cy.pan({ x: cy.width() / 2 - 0.8 * first.position("x"), y: 40 - 0.8 * (first.position("y") - first.height() / 2) });
    }
  }

  function relabel(pane) {
    const numbers = document.getElementById("numbers").checked;
    pane.get("cy").batch(() => pane.get("cy").$(".box").forEach((e) => {
      const { shape, lines } = e.data();
      if (shape >= 0) e.data("text", [...lines, numbers ? sizes(shape) : data.shapes[shape].text].join("\n"));
    }));
  }

  function goTo(pane, box) {
    const view = pane.get("graph").views[pane.get("view")];
    const cy = pane.get("cy");
    const e = cy.getElementById(`b${view.place[box]}`);
    cy.$(":selected").unselect();
    e.select();
    cy.animate({ center: { eles: e }, zoom: Math.max(cy.zoom(), 0.9) }, { duration: 150 });
    describe(pane, box);
  }

  function valueRow([name, shape, type]) {
    return make("tr", {}, make("td", {}, name), make("td", {}, withSizes(shape)), make("td", {}, type));
  }

  function describeNode(graph, n) {
    const [op, name, inputs, outputs] = graph.nodes[n];
    const rows = [["reads", inputs], ["makes", outputs]].flatMap(([word, ends]) => ends.length ? [make("tr", {}, make("th", { colspan: 3 }, word)), ...ends.map(valueRow)] : []);
    return make("section", {}, make("h4", {}, name ? `${op}  ${name}` : op), make("table", {}, ...rows));
  }

  function describe(pane, box) {
    const graph = pane.get("graph");
    const [kind, lines, shape, nodes, values] = graph.boxes[box];
    const view = graph.views[pane.get("view")];
    const alike = view.place.filter((p) => p === view.place[box]).length;
    const parts = nodes.slice(0, MOST_DETAILS).map((n) => describeNode(graph, n));
    if (!nodes.length) parts.push(make("table", {}, valueRow([values[0], shape, kind])));
    if (nodes.length > MOST_DETAILS) parts.push(make("p", { class: "soft" }, `${nodes.length - MOST_DETAILS} nodes more`));
    const note = alike > 1 ? make("p", { class: "soft" }, `drawn once for ${alike} alike`) : null;
    details.replaceChildren(make("h3", {}, `${graph.title}: ${lines.join(" ")}`), ...(note ? [note] : []), ...parts);
  }

  function paneOf(pane) {
    const graph = pane.get("graph");
    const canvas = make("div", { class: "canvas" });
    pane.set("canvas", canvas);
    pane.set("index", indexOf(graph));
    pane.set("marked", (graph.marks || []).map((name) => pane.get("index").byValue.get(name)).filter((box) => box !== undefined));
    const views = graph.views.map((view, k) => make("button", { type: "button", class: "view", onclick: (event) => {
      event.target.parentNode.querySelectorAll(".view").forEach((b) => b.setAttribute("aria-pressed", String(b === event.target)));
      showView(pane, k);
    }, "aria-pressed": String(k === 0) }, `${view.title} (${view.boxes.length})`));
    const zoom = (factor) => () => { const cy = pane.get("cy"); cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } }); };
    const tools = [make("button", { type: "button", onclick: () => pane.get("cy").fit(undefined, 12), title: "show the whole graph" }, "fit"), make("button", { type: "button", onclick: zoom(1.4), title: "larger" }, "+"), make("button", { type: "button", onclick: zoom(1 / 1.4), title: "smaller" }, "−")];
    const bar = make("div", { class: "bar" }, make("strong", {}, graph.title), make("span", { class: "soft" }, ` ${graph.nodes.length} nodes `), ...(views.length > 1 ? views : []), ...(graph.views.length ? tools : []));
    return make("div", { class: "pane" }, bar, graph.views.length ? canvas : make("p", {}, "The graph has too many nodes to draw; its nodes are found by name."));
  }

  // ---------------------------------------------------------------- search

  function search(text, list) {
    const wanted = text.trim().toLowerCase();
    const found = [];
    let count = 0;
    for (const pane of wanted ? panes : []) {
      const { graph, index } = { graph: pane.get("graph"), index: pane.get("index") };
      const add = (label, box, show) => {
        count += 1;
        if (found.length >= MOST_FOUND) return;
        const title = panes.length > 1 ? `${graph.title.split(":")[0]}: ${label}` : label;
        found.push(make("li", {}, make("button", { type: "button", onclick: () => (box === undefined || !graph.views.length ? show() : goTo(pane, box)) }, title)));
      };
      graph.boxes.forEach(([kind, , , nodes, values], k) => { if (!nodes.length && values[0].toLowerCase().includes(wanted)) add(`${kind} ${values[0]}`, k); });
      graph.nodes.forEach(([op, name, , outputs], n) => {
        const texts = [op, name, ...outputs.map(([output]) => output)];
        if (texts.some((t) => t.toLowerCase().includes(wanted))) {
          add(`${op} ${name || (outputs[0] || [""])[0]}`, index.byNode.get(n), () => details.replaceChildren(make("p", { class: "soft" }, "This node is not drawn: it computes a shape, or nothing that an output needs."), describeNode(graph, n)));
        }
      });
    }
    const note = !wanted ? "" : count > found.length ? `${count} found, the first ${found.length} are listed` : `${count} found`;
    list.replaceChildren(...found, make("li", { class: "soft" }, note));
  }

  // ---------------------------------------------------------------- tables and files

  function cell(content) {
    if (typeof content === "string") return make("td", {}, content);
    if ("shape" in content) return make("td", {}, withSizes(content.shape));
    if ("tree" in content) {
      const now = make("span", { class: "now" });
      const refresh = () => { const text = number(content.tree); now.textContent = text === content.text ? "" : ` = ${text}`; };
      refresh();
      refreshers.push([null, refresh]);
      return make("td", {}, content.text, now);
    }
    const pane = panes[content.graph];
    const box = pane && pane.get("index").byValue.get(content.value);
    if (box === undefined) return make("td", {}, content.value);
    return make("td", {}, make("button", { type: "button", class: "link", onclick: () => { goTo(pane, box); pane.get("canvas").scrollIntoView({ block: "center" }); } }, content.value));
  }

  function section({ title, note, columns, rows }) {
    const head = make("tr", {}, ...columns.map((name) => make("th", {}, name)));
    const body = rows.map((row) => make("tr", {}, ...row.map(cell)));
    return make("section", { class: "facts" }, make("h2", {}, title), note ? make("p", { class: "soft" }, note) : null, make("table", {}, head, ...body));
  }

  function file({ name, type, content }) {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    const address = URL.createObjectURL(new Blob([bytes], { type }));
    return make("a", { href: address, download: name, class: "file" }, `${name} (${bytes.length.toLocaleString("en")} bytes)`);
  }

  // ---------------------------------------------------------------- the page

  const found = make("ul", { id: "found" });
  const numbers = make("input", { type: "checkbox", id: "numbers", onchange: () => panes.forEach((pane) => pane.has("cy") && relabel(pane)) });
  const left = make("aside", {},
    make("input", { type: "search", id: "search", placeholder: "find a node or a value by name", "aria-label": "find by name", oninput: (event) => search(event.target.value, found) }), found,
    make("h2", {}, "Sizes"), data.dims.length ? make("p", { class: "soft" }, "Every shape holds for all sizes; here it is shown for some.") : make("p", { class: "soft" }, "All sizes are fixed."),
    ...data.dims.map(dimRow), make("label", { class: "check" }, numbers, " these sizes in the boxes"),
    make("h2", {}, "What the sizes must meet"), make("ul", { id: "requires" }, bounds(), ...data.requires.map(requirement)),
    ...(data.files.length ? [make("h2", {}, "Files"), ...data.files.map(file)] : []));
  const badge = data.verdict ? make("span", { class: `badge ${data.verdict}` }, data.verdict) : null;
  const lines = data.summary.map((line) => make("div", {}, line));
  document.body.append(
    make("header", {}, make("h1", {}, badge, data.title), ...lines),
    make("main", {}, left, make("div", { id: "graphs" }, ...panes.map(paneOf)), details),
    ...data.sections.map(section),
    make("footer", {}, "made by symlayout", data.made_by ? make("code", {}, ` ${data.made_by}`) : null));
  document.title = data.title;
  panes.forEach((pane) => pane.get("graph").views.length && showView(pane, 0));
  refreshers.push([null, () => { if (numbers.checked) panes.forEach((pane) => pane.has("cy") && relabel(pane)); }]);
  window.symlayoutPage = { data, dims, panes, evaluate: Expressions.evaluate };
})();
