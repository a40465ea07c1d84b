// What the page shows: one that is chosen with its nearest, two that are compared.

(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const {start, bins, mass} = {start: unpacked(data.rows.start), bins: unpacked(data.rows.bins),
                               mass: unpacked(data.rows.mass)};
  const near = unpacked(data.near), distances = unpacked(data.distances), places = unpacked(data.places);
  const colours = data.labels && labelColours(data.labels);
  const canMove = data.ground.kind !== "none";
  const cost = canMove ? costFunction(data.ground) : null;
  const text = (x, digits = 4) => Number(x.toPrecision(digits)).toString();

  const family = {
    count: data.names.length, names: data.names,
    isImage: (data.ground.sides || []).length === 2,
    place: (k) => [places[2 * k], places[2 * k + 1]],
    colour: (k) => colours ? colours.get(data.labels[k]) : "#0072B2",
    row(k) {
      const part = {bins: [...bins.subarray(start[k], start[k + 1])],
                    mass: Float64Array.from(mass.subarray(start[k], start[k + 1]))};
      const sum = part.mass.reduce((a, b) => a + b, 0);
      part.mass = part.mass.map((x) => x / sum);
      return part;
    },
    pictures: new Map(),
    /** On the map, in the colour of its label. */
    picture(k) {
      if (!this.pictures.has(k)) this.pictures.set(k, thumbnail(this.row(k), data.ground, channels(this.colour(k))));
      return this.pictures.get(k);
    },
    title(k) {
      const name = data.names[k] === String(k) ? `row ${k}` : data.names[k];
      return data.labels ? `${name} (${data.labels[k]})` : name;
    },
    binName(bin) {
      if (data.bins) return data.bins[bin];
      if (!family.isImage) return `bin ${bin}`;
      const across = data.ground.sides[1];
      return `${Math.floor(bin / across)}, ${bin % across}`;
    },
  };

  function channels(colour) {
    const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  let solutions = [], pair = null, job = 0;
  const map = new FamilyMap($("map"), family, choose);

  /** Click one, then another; a third begins again. */
  function choose(k) {
    const began = performance.now();
    if (map.first < 0 || map.second >= 0) show(k);
    else if (k !== map.first) compare(k);
    document.body.dataset.reaction = (performance.now() - began).toFixed(1);
  }

  function show(k) {
    map.first = map.focus = k; map.second = -1; job++;
    map.reveal(k); map.draw();
    $("hint").textContent = "Click another on the map or in the list to see what moves.";
    $("chosen").hidden = false; $("compared").hidden = true;
    $("chosen-name").textContent = family.title(k);
    const words = largestBins(k, 12);
    $("chosen-words").textContent = data.bins ? words.join(", ") : "";
    $("chosen-picture").hidden = Boolean(data.bins);
    if (!data.bins) copyInto($("chosen-picture"), ink(k));
    const all = data.proven[k];
    $("which").innerHTML = "";
    $("which").append(`By the ${data.distance}. `, all
      ? "✓ proven: every distance of this row was solved to the tolerance, so none that is not listed is nearer."
      : "Not proven: not every distance of this row is known to its tolerance.");
    $("nearest").replaceChildren(...Array.from({length: data.k}, (_, r) => item(k, r)));
  }

  function item(k, rank) {
    const other = near[k * data.k + rank], line = document.createElement("li");
    const button = document.createElement("button"), small = document.createElement("small");
    button.type = "button"; button.dataset.row = other; button.setAttribute("aria-pressed", "false");
    if (!data.bins) button.append(ink(other));
    button.append(family.title(other));
    small.append(text(distances[k * data.k + rank]));
    if (data.proven[k]) {
      const mark = document.createElement("span");
      mark.className = "proven"; mark.textContent = " ✓"; mark.title = "proven";
      small.append(mark);
    }
    button.append(small);
    button.addEventListener("click", () => {
      const began = performance.now();
      compare(other);
      document.body.dataset.reaction = (performance.now() - began).toFixed(1);
    });
    line.append(button);
    return line;
  }

  function largestBins(k, top) {
    const row = family.row(k), order = [...row.bins.keys()].sort((a, b) => row.mass[b] - row.mass[a]);
    return order.slice(0, top).map((i) => family.binName(row.bins[i]));
  }

  /** In the colour of mass. */
  const ink = (k) => thumbnail(family.row(k), data.ground, style("--mass").split(",").map(Number));
  function copyInto(canvas, picture) {
    canvas.width = picture.width; canvas.height = picture.height;
    canvas.getContext("2d").drawImage(picture, 0, 0);
  }

  function compare(k) {
    map.second = map.focus = k; map.draw();
    for (const button of $("nearest").querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(Number(button.dataset.row) === k));
    $("compared").hidden = false;
    $("pair").replaceChildren("From ", named("from", map.first), " to ", named("to", k));
    $("plan").hidden = !canMove; $("no-plan").hidden = canMove;
    if (!canMove) { $("no-plan").textContent = data.ground.reason; return; }
    pair = new Pair(family.row(map.first), family.row(k), cost);
    solutions = [];
    solveUpTo(Number($("slider").value), performance.now() + 25);
    showStop();
    const mine = ++job;
    (function more() {  // the other stops, a slice at a time, so that the page answers meanwhile
      if (mine !== job) return;
      const late = solutions.findIndex((s) => !s.converged && s.spent < 1500);
      if (late < 0 && solutions.length >= data.stops.length) return;
      if (late >= 0) improve(late); else solveUpTo(solutions.length, performance.now() + 15);
      showStop();
      setTimeout(more, 0);
    })();
    if (matchMedia("(max-width: 800px)").matches) $("compared").scrollIntoView();
  }

  function named(kind, k) {
    const span = document.createElement("span");
    span.className = kind; span.textContent = family.title(k);
    return span;
  }

  const lamOf = (stop) => data.stops[stop] / data.ground.median;
  function solveUpTo(stop, until) {
    while (solutions.length <= stop) {
      const began = performance.now(), s = pair.solve(lamOf(solutions.length), until);
      s.f = pair.f.slice(); s.g = pair.g.slice(); s.spent = performance.now() - began;
      solutions.push(s);
    }
  }
  function improve(stop) {
    const began = performance.now(), old = solutions[stop];
    pair.f.set(old.f); pair.g.set(old.g);
    const s = pair.solve(lamOf(stop), began + 15);
    s.f = pair.f.slice(); s.g = pair.g.slice(); s.spent = old.spent + performance.now() - began;
    solutions[stop] = s;
    const last = solutions[solutions.length - 1];
    pair.f.set(last.f); pair.g.set(last.g);
  }

  function showStop() {
    const stop = Number($("slider").value);
    $("stop").textContent = data.stops[stop];
    $("slider").setAttribute("aria-valuetext", `lam times median cost ${data.stops[stop]}`);
    if (stop >= solutions.length) return;
    const s = solutions[stop], moves = pair.moves(s.plan, 80);
    const size = s.converged ? `marginal error at most 1e-6`
      : `not converged: marginal error ${s.error.toExponential(1)}`;
    $("value").textContent = `Cost of this plan: ${text(s.value)} (lam = ${text(s.lam)}, ${size})`;
    Object.assign(document.body.dataset, {value: s.value, lam: s.lam, converged: s.converged});
    drawFlow(moves);
    const lines = moves.largest.slice(0, family.isImage ? 5 : 15).map((m) => {
      const row = document.createElement("tr");
      for (const cell of [family.binName(m.from), family.binName(m.to), text(m.mass, 3), text(m.cost, 3)]) {
        const td = document.createElement("td"); td.textContent = cell; row.append(td);
      }
      return row;
    });
    $("moves").tBodies[0].replaceChildren(...lines);
    const drawn = moves.largest.reduce((sum, m) => sum + m.mass, 0);
    $("share").textContent = moves.count
      ? `${text(100 * moves.moved, 3)}% of the mass moves, in ${moves.count} moves; ` +
        (family.isImage ? `the ${moves.largest.length} largest are drawn, with ${text(100 * drawn / moves.moved, 3)}% of it.` : "")
      : "Nothing moves.";
  }

  /** Arrows over both histograms, on a grid of two sides. */
  function drawFlow(moves) {
    const canvas = $("flow");
    canvas.hidden = !family.isImage;
    if (!family.isImage) return;
    const [h, w] = data.ground.sides, cell = Math.max(1, Math.floor(704 / Math.max(h, w)));
    canvas.width = cell * w; canvas.height = cell * h;
    canvas.style.aspectRatio = `${w} / ${h}`;
    const context = canvas.getContext("2d");
    for (const [side, variable] of [[pair.from, "--from"], [pair.to, "--to"]]) {
      const top = Math.max(...side.mass);
      context.fillStyle = style(variable);
      side.bins.forEach((bin, k) => {
        context.globalAlpha = .55 * side.mass[k] / top;
        context.fillRect(bin % w * cell, Math.floor(bin / w) * cell, cell, cell);
      });
    }
    context.globalAlpha = .85;
    context.strokeStyle = context.fillStyle = style("--ink");
    const most = moves.largest.length ? moves.largest[0].mass : 1;
    for (const m of moves.largest) {
      const width = Math.max(1, 9 * m.mass / most);
      const [x, y, a, b] = [m.from % w, Math.floor(m.from / w), m.to % w, Math.floor(m.to / w)]
        .map((v) => (v + .5) * cell);
      const angle = Math.atan2(b - y, a - x), head = 8 + 1.6 * width;
      context.lineWidth = width;
      context.beginPath(); context.moveTo(x, y);
      context.lineTo(a - .8 * head * Math.cos(angle), b - .8 * head * Math.sin(angle)); context.stroke();
      context.beginPath(); context.moveTo(a, b);
      for (const turn of [-.45, .45])
        context.lineTo(a - head * Math.cos(angle + turn), b - head * Math.sin(angle + turn));
      context.fill();
    }
    canvas.setAttribute("aria-label", `${moves.count} moves from ${family.title(map.first)} to ${family.title(map.second)}`);
  }

  function startAgain() {
    map.first = map.second = map.focus = -1; job++;
    $("chosen").hidden = $("compared").hidden = true;
    $("hint").textContent = `${family.count} histograms. Click one to see its nearest.`;
    map.draw();
  }

  // Controls.
  $("slider").max = data.stops.length - 1;
  $("slider").value = data.stops.indexOf(50);
  $("slider").addEventListener("input", () => {
    if (pair) { solveUpTo(Number($("slider").value), performance.now() + 25); showStop(); }
  });
  $("turn").addEventListener("click", () => show(map.second));
  const byName = new Map(data.names.map((name, k) => [name.toLowerCase(), k]));
  $("find").addEventListener("input", () => {
    const wanted = $("find").value.trim().toLowerCase();
    const hits = wanted ? data.names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, 12) : [];
    $("found").replaceChildren(...hits.map((name) => Object.assign(document.createElement("option"), {value: name})));
  });
  $("search").addEventListener("submit", (e) => {
    e.preventDefault();
    const wanted = $("find").value.trim().toLowerCase();
    let k = byName.get(wanted);
    if (k === undefined && wanted) k = data.names.findIndex((name) => name.toLowerCase().includes(wanted));
    if (k === undefined || k < 0) $("hint").textContent = `No name has “${$("find").value}” in it.`;
    else show(k);
  });
  const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  $("map").addEventListener("keydown", (e) => {
    const w = $("map").clientWidth / 2, h = $("map").clientHeight / 2;
    if (ARROWS[e.key]) {
      const k = map.next(...ARROWS[e.key]);
      if (map.second < 0 && map.first >= 0 && e.shiftKey) { map.focus = k; map.reveal(k); map.draw(); } else show(k);
    } else if (e.key === "Enter" || e.key === " ") {
      if (map.first < 0) show(Math.max(0, map.focus));
      else if (map.focus !== map.first) compare(map.focus);
      else compare(near[map.first * data.k]);
    } else if (e.key === "+" || e.key === "=") map.zoomAt(1.4, w, h);
    else if (e.key === "-" || e.key === "−") map.zoomAt(1 / 1.4, w, h);
    else if (e.key === "0") { map.view = {x: 0, y: 0, zoom: 1}; map.draw(); }
    else if (e.key === "Escape") startAgain();
    else return;
    e.preventDefault();
  });
  if (colours) $("legend").replaceChildren(...[...colours].slice(0, 40).map(([name, colour]) => {
    const line = document.createElement("li"), dot = document.createElement("span");
    dot.style.background = colour; line.append(dot, name);
    return line;
  }));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    map.draw();
    if (map.first >= 0) { const second = map.second; show(map.first); if (second >= 0) compare(second); }
  });
  // For tests: where one is on the page.
  window.explorer = {family, map, choose, show, compare, startAgain};
  startAgain();
})();
