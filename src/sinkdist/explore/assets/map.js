// Small pictures of histograms, and the map of the family on a canvas.

const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#8C8C8C", "#7B4FD0",
                 "#A0522D", "#E0409A"];

/** A colour for each label; beyond the palette, hues around the circle. */
function labelColours(labels) {
  const names = [...new Set(labels)].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
  return new Map(names.map((name, k) =>
    [name, k < PALETTE.length ? PALETTE[k] : `hsl(${(k * 137.5) % 360} 60% 50%)`]));
}

/** A picture of one histogram, a pixel for each bin: an image on a grid of two sides, else bars. */
function thumbnail(row, ground, colour) {
  const canvas = document.createElement("canvas"), sides = ground.sides || [];
  const top = Math.max(...row.mass);
  if (sides.length === 2) {
    [canvas.height, canvas.width] = sides;
    const context = canvas.getContext("2d"), image = context.createImageData(sides[1], sides[0]);
    row.bins.forEach((bin, k) => {
      image.data.set([...colour, Math.round(255 * row.mass[k] / top)], 4 * bin);
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }
  canvas.width = canvas.height = 48;
  const context = canvas.getContext("2d");
  context.fillStyle = `rgb(${colour})`;
  if (sides.length === 1) {
    const width = 48 / sides[0];
    row.bins.forEach((bin, k) => context.fillRect(bin * width, 48 * (1 - row.mass[k] / top),
                                                  Math.max(width, .5), 48 * row.mass[k] / top));
  } else {
    [...row.mass].sort((a, b) => b - a).slice(0, 8).forEach((mass, k) =>
      context.fillRect(0, 6 * k + 1, 48 * mass / top, 4));
  }
  return canvas;
}

/** The map: places in a square of side 1 around the origin, seen through a window that moves. */
class FamilyMap {
  constructor(canvas, family, onChoose) {
    Object.assign(this, {canvas, family, onChoose});
    this.context = canvas.getContext("2d");
    this.view = {x: 0, y: 0, zoom: 1};
    this.first = this.second = this.focus = -1;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Pixels of the page for a place. */
  at(k) {
    const {clientWidth: w, clientHeight: h} = this.canvas, scale = this.scale();
    const [x, y] = this.family.place(k);
    return [w / 2 + (x - this.view.x) * scale, h / 2 + (y - this.view.y) * scale];
  }

  scale() {
    return .94 * Math.min(this.canvas.clientWidth, this.canvas.clientHeight) * this.view.zoom;
  }

  /** The side of a small picture: larger where there is room. */
  side() {
    const room = this.scale() / Math.sqrt(this.family.count);
    return Math.min(56, Math.max(9, .75 * room));
  }

  draw() {
    const {canvas, context, family} = this, ratio = window.devicePixelRatio || 1;
    const w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    context.imageSmoothingEnabled = false;
    const side = this.side(), images = family.isImage;
    for (let k = 0; k < family.count; k++) {
      const [x, y] = this.at(k);
      if (x < -side || y < -side || x > w + side || y > h + side) continue;
      if (images) context.drawImage(family.picture(k), x - side / 2, y - side / 2, side, side);
      else {
        context.fillStyle = family.colour(k);
        context.beginPath(); context.arc(x, y, Math.min(5, side / 3), 0, 7); context.fill();
      }
    }
    if (!images) this.drawNames(w, h);
    this.mark(this.focus, "--faint", side, 1.5);
    this.mark(this.second, "--to", side, 3);
    this.mark(this.first, "--from", side, 3);
  }

  /** Names where there is room; the chosen ones first. */
  drawNames(w, h) {
    const {context, family} = this, taken = new Set();
    context.font = "15px system-ui, sans-serif";
    context.fillStyle = getComputedStyle(document.body).color;
    const chosen = [this.first, this.second, this.focus].filter((k) => k >= 0);
    for (const k of [...chosen, ...Array(family.count).keys()]) {
      const [x, y] = this.at(k), name = family.names[k].slice(0, 28);
      const width = context.measureText(name).width + 6;
      if (x < 0 || y < 0 || x + width > w || y > h) continue;
      const cells = [];
      for (let c = Math.floor(x / 12); c <= Math.floor((x + width) / 12); c++)
        cells.push(`${c},${Math.floor(y / 18)}`);
      if (cells.some((cell) => taken.has(cell))) continue;
      cells.forEach((cell) => taken.add(cell));
      context.fillText(name, x + 6, y + 5);
    }
  }

  mark(k, variable, side, width) {
    if (k < 0) return;
    const [x, y] = this.at(k), half = Math.max(side / 2, 8) + 2;
    this.context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue(variable);
    this.context.lineWidth = width;
    this.context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }

  /** The one that is nearest to a pixel, or none within reach. */
  hit(x, y) {
    let best = -1, least = Math.max(this.side(), 24) ** 2;
    for (let k = 0; k < this.family.count; k++) {
      const [a, b] = this.at(k), d = (a - x) ** 2 + (b - y) ** 2;
      if (d < least) { least = d; best = k; }
    }
    return best;
  }

  zoomAt(factor, x, y) {
    const zoom = Math.min(60, Math.max(.5, this.view.zoom * factor)), before = this.scale();
    const w = this.canvas.clientWidth / 2, h = this.canvas.clientHeight / 2;
    this.view.zoom = zoom;
    this.view.x += (x - w) * (1 / before - 1 / this.scale());
    this.view.y += (y - h) * (1 / before - 1 / this.scale());
    this.draw();
  }

  /** Bring one into view. */
  reveal(k) {
    const [x, y] = this.at(k), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (x < 30 || y < 30 || x > w - 30 || y > h - 30) [this.view.x, this.view.y] = this.family.place(k);
  }

  /** The nearest one in a direction, for the arrow keys. */
  next(dx, dy) {
    if (this.focus < 0) return this.first >= 0 ? this.first : 0;
    const [x, y] = this.family.place(this.focus);
    let best = this.focus, least = Infinity;
    for (let k = 0; k < this.family.count; k++) {
      const [a, b] = this.family.place(k), along = (a - x) * dx + (b - y) * dy;
      const across = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (k === this.focus || along <= 0 || across > 2 * along) continue;
      const d = along + 2 * across;
      if (d < least) { least = d; best = k; }
    }
    return best;
  }

  listen() {
    const {canvas} = this, fingers = new Map();
    let moved = 0, apart = 0;
    canvas.addEventListener("pointerdown", (e) => {
      fingers.set(e.pointerId, [e.offsetX, e.offsetY]); moved = 0; apart = 0;
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      const last = fingers.get(e.pointerId);
      if (!last) return;
      fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
      const all = [...fingers.values()];
      if (all.length === 2) {
        const now = Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]);
        if (apart) this.zoomAt(now / apart, (all[0][0] + all[1][0]) / 2, (all[0][1] + all[1][1]) / 2);
        apart = now; moved = 99;
        return;
      }
      moved += Math.hypot(e.offsetX - last[0], e.offsetY - last[1]);
      if (moved > 5) {
        this.view.x -= (e.offsetX - last[0]) / this.scale();
        this.view.y -= (e.offsetY - last[1]) / this.scale();
        this.draw();
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      const alone = fingers.size === 1;
      fingers.delete(e.pointerId);
      if (!alone || moved > 5) return;
      const k = this.hit(e.offsetX, e.offsetY);
      if (k >= 0) this.onChoose(k);
    });
    canvas.addEventListener("pointercancel", (e) => fingers.delete(e.pointerId));
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoomAt(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
    }, {passive: false});
  }
}
