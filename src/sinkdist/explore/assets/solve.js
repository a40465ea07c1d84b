"use strict";
// Plans in the browser: the scaling of Sinkhorn and Knopp on kernels that hold the potentials
// (so that nothing overflows), from a soft lam to a sharper one, each start where the last ended.

/** Little-endian numbers from base64. */
function unpacked(part) {
  const text = atob(part.data), bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return new {f4: Float32Array, u2: Uint16Array, u4: Uint32Array}[part.type](bytes.buffer);
}

/** The cost between two bins. */
function costFunction(ground) {
  if (ground.kind === "grid") {
    const {sides, metric, spacing, unit} = ground;
    const strides = sides.map((_, k) => sides.slice(k + 1).reduce((a, b) => a * b, 1));
    return (i, j) => {
      let total = 0;
      for (let k = 0; k < sides.length; k++) {
        const x = Math.floor(i / strides[k]) % sides[k] - Math.floor(j / strides[k]) % sides[k];
        const step = Math.abs(x) * spacing[k];
        total += metric === "cityblock" ? step : step * step;
      }
      return (metric === "euclidean" ? Math.sqrt(total) : total) / unit;
    };
  }
  const used = unpacked(ground.used), place = new Map();
  used.forEach((bin, k) => place.set(bin, k));
  if (ground.kind === "points") {
    const z = unpacked(ground.places), n = ground.dimension;
    return (i, j) => distanceBetween(z, place.get(i) * n, place.get(j) * n, n, ground.metric) / ground.unit;
  }
  const costs = unpacked(ground.costs);
  return (i, j) => costs[place.get(i) * used.length + place.get(j)];
}

/** A distance between two points that begin at some places of an array. */
function distanceBetween(z, a, b, n, metric) {
  let sum = 0, most = 0, aa = 0, bb = 0, ab = 0;
  for (let k = 0; k < n; k++) {
    const x = z[a + k], y = z[b + k], step = Math.abs(x - y);
    sum += metric === "cityblock" ? step : step * step;
    most = Math.max(most, step);
    aa += x * x; bb += y * y; ab += x * y;
  }
  if (metric === "chebyshev") return most;
  if (metric === "cosine") return a === b ? 0 : Math.max(0, 1 - ab / Math.sqrt(aa * bb));
  return metric === "euclidean" ? Math.sqrt(sum) : sum;
}

const TOLERANCE = 1e-6;

/** A pair of histograms {bins, mass} on which one lam after another is solved. */
class Pair {
  constructor(from, to, cost) {
    this.from = from; this.to = to;
    this.n = from.bins.length; this.m = to.bins.length;
    this.costs = new Float64Array(this.n * this.m);
    for (let i = 0; i < this.n; i++)
      for (let j = 0; j < this.m; j++) this.costs[i * this.m + j] = cost(from.bins[i], to.bins[j]);
    this.f = new Float64Array(this.n); this.g = new Float64Array(this.m);
  }

  /** Solve at a lam, at most until a time; what is not converged says so by its error. */
  solve(lam, until) {
    const {n, m, costs, f, g} = this, a = this.from.mass, b = this.to.mass;
    const kernel = new Float64Array(n * m), u = new Float64Array(n), v = new Float64Array(m);
    const into = new Float64Array(m);
    const absorb = () => {
      for (let i = 0; i < n; i++) { f[i] += Math.log(u[i]) / lam; u[i] = 1; }
      for (let j = 0; j < m; j++) { g[j] += Math.log(v[j]) / lam; v[j] = 1; }
      build();
    };
    const build = () => {
      for (let i = 0; i < n; i++)
        for (let j = 0; j < m; j++) kernel[i * m + j] = Math.exp(lam * (f[i] + g[j] - costs[i * m + j]));
    };
    // The potentials of the last lam, with rows made exact in logarithms: every row has mass then.
    for (let i = 0; i < n; i++) {
      let top = -Infinity, sum = 0;
      for (let j = 0; j < m; j++) top = Math.max(top, g[j] - costs[i * m + j]);
      for (let j = 0; j < m; j++) sum += Math.exp(lam * (g[j] - costs[i * m + j] - top));
      f[i] = Math.log(a[i]) / lam - top - Math.log(sum) / lam;
    }
    for (let j = 0; j < m; j++) {
      let top = -Infinity, sum = 0;
      for (let i = 0; i < n; i++) top = Math.max(top, f[i] - costs[i * m + j]);
      for (let i = 0; i < n; i++) sum += Math.exp(lam * (f[i] - costs[i * m + j] - top));
      g[j] = Math.log(b[j]) / lam - top - Math.log(sum) / lam;
    }
    u.fill(1); v.fill(1); build();
    let error = Infinity, sweeps = 0;
    for (; error > TOLERANCE; sweeps++) {
      if (sweeps % 20 === 0 && performance.now() > until) break;
      into.fill(0);
      let largest = 1;
      for (let i = 0; i < n; i++) {  // rows: exact after this
        let sum = 0;
        for (let j = 0; j < m; j++) sum += kernel[i * m + j] * v[j];
        u[i] = a[i] / sum;
        largest = Math.max(largest, u[i], 1 / u[i]);
        for (let j = 0; j < m; j++) into[j] += u[i] * kernel[i * m + j];
      }
      error = 0;
      for (let j = 0; j < m; j++) error += Math.abs(into[j] * v[j] - b[j]);
      if (error <= TOLERANCE) break;
      for (let j = 0; j < m; j++) { v[j] = b[j] / into[j]; largest = Math.max(largest, v[j], 1 / v[j]); }
      if (largest > 1e50) absorb();
    }
    if (error > TOLERANCE) {  // stopped after columns: rows once more, and the error of that plan
      into.fill(0);
      for (let i = 0; i < n; i++) {
        let sum = 0;
        for (let j = 0; j < m; j++) sum += kernel[i * m + j] * v[j];
        u[i] = a[i] / sum;
        for (let j = 0; j < m; j++) into[j] += u[i] * kernel[i * m + j] * v[j];
      }
      error = 0;
      for (let j = 0; j < m; j++) error += Math.abs(into[j] - b[j]);
    }
    const plan = new Float64Array(n * m);
    let value = 0;
    for (let i = 0; i < n; i++)
      for (let j = 0; j < m; j++) {
        const mass = u[i] * kernel[i * m + j] * v[j];
        plan[i * m + j] = mass; value += mass * costs[i * m + j];
      }
    for (let i = 0; i < n; i++) f[i] += Math.log(u[i]) / lam;
    for (let j = 0; j < m; j++) g[j] += Math.log(v[j]) / lam;
    return {lam, plan, value, error, sweeps, converged: error <= TOLERANCE};
  }

  /** Moves of a plan, the largest first; what stays at no cost does not move. */
  moves(plan, top) {
    const found = [];
    let moved = 0;
    for (let i = 0; i < this.n; i++)
      for (let j = 0; j < this.m; j++) {
        const mass = plan[i * this.m + j], cost = this.costs[i * this.m + j];
        if (mass <= 0 || (this.from.bins[i] === this.to.bins[j] && cost === 0)) continue;
        moved += mass;
        found.push({from: this.from.bins[i], to: this.to.bins[j], mass, cost});
      }
    found.sort((x, y) => y.mass - x.mass);
    return {moved, count: found.length, largest: found.slice(0, top)};
  }
}
