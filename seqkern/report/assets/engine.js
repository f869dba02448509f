// Decisions of a model in a worker: it reads FASTA, looks weights up, and answers messages; it knows no page.
"use strict";

const MASKED = 255, KEPT = 2e7, BATCH = 2048, MOST_CHANGES = 2000, MOST_WORDS = 60;

// the model: arrays from base64, compressed

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// fixed-point numbers of three bytes, whose high bytes come first in one run, then the middle and the low bytes
function array(buffer, { at, n, type, scale }) {
  if (type === "f8") return new Float64Array(buffer.slice(at, at + 8 * n));
  if (type === "u1") return new Uint8Array(buffer.slice(at, at + n));
  const bytes = new Uint8Array(buffer, at, 3 * n), out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = ((bytes[i] << 24 | bytes[n + i] << 16 | bytes[2 * n + i] << 8) >> 8) * scale;
  return out;
}

class Model {
  constructor(given, buffer) {
    Object.assign(this, given);
    const letters = this.alphabet.letters;
    this.size = letters.length;
    this.bits = Math.max(1, Math.ceil(Math.log2(this.size)));
    this.code = new Uint8Array(256).fill(MASKED);
    [...letters].forEach((letter, i) => {
      this.code[letter.charCodeAt(0)] = this.code[letter.toLowerCase().charCodeAt(0)] = i;
    });
    const other = this.alphabet.complement;
    this.complement = other ? Uint8Array.from(other, letter => letters.indexOf(letter)) : null;
    const swap = { dna: "UT", rna: "TU" }[this.alphabet.name];  // U is read as T, or T as U
    this.swap = swap;
    this.swapped = new Uint8Array(256);
    for (const letter of swap ? [swap[0], swap[0].toLowerCase()] : []) {
      this.swapped[letter.charCodeAt(0)] = 1;
      this.code[letter.charCodeAt(0)] = letters.indexOf(swap[1]);
    }
    this.masked = this.alphabet.name === "protein" ? "X" : "N";
    this.parts = this.terms.map(term => new { kmers: Kmers, positions: Positions }[term.kind](this, term, buffer));
  }

  // Σ of the terms and the bias; NaN with the reason in `note`
  decision(codes) {
    let sum = this.bias;
    this.note = "";
    if (this.fixed_length && codes.length !== this.fixed_length) {
      this.note = `has ${codes.length} residues, the model needs ${this.fixed_length}`;
      return NaN;
    }
    for (const part of this.parts) sum += part.value(part.piece(codes));
    return this.note ? NaN : sum;
  }

  probability(decision) {
    const made = this.calibration;
    if (!made || Number.isNaN(decision)) return NaN;
    if (made.method === "platt") {
      const z = -made.slope * decision - made.intercept;  // Platt: 1 / (1 + exp(A·f + B))
      return z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z));
    }
    const points = made.points, last = points.length - 1;
    if (decision <= points[0][0]) return points[0][1];
    if (decision >= points[last][0]) return points[last][1];
    let i = 0;
    while (points[i + 1][0] < decision) i++;
    const [[x, p], [y, q]] = [points[i], points[i + 1]];
    return p + (q - p) * (decision - x) / (y - x);
  }
}

class Term {
  constructor(model, term) {
    Object.assign(this, term);
    this.model = model;
  }

  piece(codes) {
    if (!this.part) return codes;
    const [start, stop] = this.part;
    return codes.subarray(start ?? 0, stop ?? codes.length);  // negative ends count from the end
  }

  // `square` is K(x, x); where it is 0 the sequence has no value, or the value 0
  normalised(sum, square) {
    if (!this.norm) return sum;
    if (square > 0) return sum / Math.sqrt(square);
    if (this.zero_diagonal === "error") this.model.note = "has K(x, x) = 0: nothing in it counts";
    return 0;
  }
}

// Sums over the k-mers of a sequence, in tables by k; K(x, x) is a sum over pairs of k-mers by their Hamming distance.

class Kmers extends Term {
  constructor(model, term, buffer) {
    super(model, term);
    this.tables = term.tables.map(({ k, table, half }) => ({
      k, weights: half ? this.both(array(buffer, table), k) : array(buffer, table),
    }));
    this.longest = Math.max(...this.tables.map(one => one.k));
  }

  // of two reverse complements a file has the weight of the one with the smaller code
  both(half, k) {
    const { size, complement } = this.model, n = size ** k, out = new Float64Array(n), turned = new Int32Array(n);
    for (let i = 0; i < k; i++) turned[0] = turned[0] * size + complement[0];
    for (let code = 0, next = 0; code < n; code++) {
      // the k-mer without its last letter, turned, and the complement of that letter
      const rest = Math.floor(code / size);
      if (code) turned[code] = complement[code - rest * size] * n / size + Math.floor(turned[rest] / size);
      out[code] = turned[code] < code ? out[turned[code]] : half[next++];
    }
    return out;
  }

  // calls visit(start, code) for each k-mer without a masked residue
  each(codes, k, visit) {
    const { size } = this.model, top = size ** (k - 1);
    let code = 0, whole = 0;
    for (let i = 0; i < codes.length; i++) {
      const letter = codes[i];
      if (letter === MASKED) { whole = code = 0; continue; }
      code = (whole >= k ? code % top : code) * size + letter;
      if (++whole >= k) visit(i - k + 1, code);
    }
  }

  sum(codes) {
    let sum = 0;
    for (const { k, weights } of this.tables) this.each(codes, k, (start, code) => { sum += weights[code]; });
    return sum;
  }

  value(codes) {
    if (codes.length < this.longest && this.short === "error") {
      this.model.note = `has ${codes.length} residues, fewer than ${this.longest}`;
    }
    return this.normalised(this.sum(codes), this.norm && this.square(codes));
  }

  square(codes) {
    let sum = 0;
    for (const { k, values } of this.norm) {
      const equal = values.every((value, h) => !h || !value);
      sum += equal ? values[0] * this.equal(codes, k) : this.near(codes, k, values);
    }
    return sum;
  }

  // the number of pairs of equal k-mers
  equal(codes, k) {
    const { size, complement } = this.model, words = [], others = [], number = size ** k < 1 << 22
      ? this.number ??= new Int32Array(size ** Math.max(...this.norm.map(one => one.k))) : [];
    let sum = 0;
    this.each(codes, k, (start, code) => {
      let other = 0;
      if (this.strands !== "one") for (let i = k; i--;) other = other * size + complement[codes[start + i]];
      const word = this.strands === "canonical" && other < code ? other : code;
      number[word] = (number[word] || 0) + 1;
      words.push(word);
      if (this.strands === "both") others.push(other);
    });
    for (const word of words) sum += number[word];
    for (const other of others) sum += number[other] || 0;
    for (const word of words) number[word] = 0;
    return sum;
  }

  // Σ of the values of all pairs of k-mers, along the diagonals of x against itself and its reverse complement; both are
  // symmetric, so that half of the pairs are enough
  near(codes, k, values) {
    const windows = codes.length - k + 1, { complement } = this.model, far = Math.max(0, values.findLastIndex(Boolean));
    let sum = 0;
    if (windows < 1) return 0;
    const x = new Planes(codes, this.model.bits, k), counts = new Float64Array(k + 1);
    for (let shift = 0; shift < windows; shift++) x.count(x, 0, shift, windows - shift, far, counts, shift ? 2 : 1);
    if (this.strands === "both") {
      const other = codes.map(code => code === MASKED ? code : complement[code]).reverse();
      const y = new Planes(other, this.model.bits, k);
      for (let shift = 1 - windows; shift < windows; shift++) {
        const pairs = windows - Math.abs(shift), half = pairs >> 1, [from, to] = shift < 0 ? [y, x] : [x, y];
        from.count(to, 0, Math.abs(shift), half, far, counts, 2);
        if (pairs % 2) from.count(to, half, Math.abs(shift), 1, far, counts, 1);
      }
    }
    for (let h = 0; h <= far; h++) sum += counts[h] * values[h];
    return sum;
  }

  explain(codes, add) {
    const norm = this.norm ? Math.sqrt(this.square(codes)) : 1;
    for (const { k, weights } of this.tables) {
      this.each(codes, k, (start, code) => add(start, k, norm > 0 ? weights[code] / norm : 0));
    }
  }
}

// The bits of a sequence's codes, each in a plane of its own, 32 residues to a word; and the k-mers without a masked one.

class Planes {
  constructor(codes, bits, k) {
    const words = (codes.length >> 5) + 4;
    this.k = k;
    this.planes = Array.from({ length: bits }, () => new Int32Array(words));
    this.whole = new Int32Array(words);
    for (let i = 0, known = 0; i < codes.length; i++) {
      known = codes[i] === MASKED ? 0 : known + 1;
      for (let b = 0; b < bits; b++) this.planes[b][i >> 5] |= (codes[i] >> b & 1) << (i & 31);
      if (known >= k) this.whole[i - k + 1 >> 5] |= 1 << (i - k + 1 & 31);
    }
    this.differ = new Int32Array(words);
  }

  // adds to counts[h], h ≤ far, `times` the number of pairs of windows with h differences, from `at` here and
  // `at + shift` there on: 32 pairs at once, whose numbers of differences, below 32, are five planes of bits
  count(other, at, shift, pairs, far, counts, times) {
    const { k, differ } = this, blocks = pairs + 31 >> 5;
    for (let i = 0; i <= blocks; i++) {
      let found = 0;
      for (let b = 0; b < this.planes.length; b++) {
        found |= bitsAt(this.planes[b], at + 32 * i) ^ bitsAt(other.planes[b], at + shift + 32 * i);
      }
      differ[i] = found;
    }
    for (let i = 0; i < blocks; i++) {
      const low = differ[i], high = differ[i + 1], left = pairs - 32 * i;
      let c0 = low, c1 = 0, c2 = 0, c3 = 0, c4 = 0;
      for (let j = 1; j < k; j++) {
        const v = low >>> j | high << 32 - j, w = c0 & v, u = c1 & w, t = c2 & u;
        c0 ^= v;
        c1 ^= w;
        c2 ^= u;
        c4 |= c3 & t;
        c3 ^= t;
      }
      const first = at + 32 * i, mask = bitsAt(this.whole, first) & bitsAt(other.whole, first + shift)
        & (left < 32 ? (1 << left) - 1 : -1);
      for (let h = 0; h <= far; h++) {
        const same = mask & (h & 1 ? c0 : ~c0) & (h & 2 ? c1 : ~c1) & (h & 4 ? c2 : ~c2) & (h & 8 ? c3 : ~c3)
          & (h & 16 ? c4 : ~c4);
        if (same) counts[h] += times * ones(same);
      }
    }
  }
}

function bitsAt(words, place) {
  const i = place >> 5, rest = place & 31;
  return rest ? words[i] >>> rest | words[i + 1] << 32 - rest : words[i];
}

function ones(word) {
  word -= word >>> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
  return Math.imul(word + (word >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// Weights of k-mers at positions. Longer k-mers than those in tables are matches with the support sequences.

class Positions extends Term {
  constructor(model, term, buffer) {
    super(model, term);
    this.here = Int32Array.from(term.here);
    this.there = Int32Array.from(term.there);
    this.weight = Float64Array.from(term.weight);
    this.sums = Float64Array.from(term.length_weights, (sum => value => sum += value)(0));  // of β_1 … β_k
    this.degree = this.sums.length;
    if (term.support) {
      this.support = array(buffer, term.support);
      this.coefficients = array(buffer, term.coefficients);
      this.prefix = Math.min(this.degree, Math.max(1, Math.floor(12 / model.bits)));
      this.tables = this.fill();
      if (this.degree > this.prefix) this.index();
    } else {
      this.tables = term.tables.map(one => array(buffer, one));
      this.prefix = this.tables.length;
    }
    // the sums over all lengths of the k-mers that begin a longest one
    const { size } = model, n = size ** this.prefix;
    this.joint = new Float64Array(this.length * n);
    for (let place = 0; place < this.joint.length; place++) {
      const at = Math.floor(place / n), code = place % n;
      this.tables.forEach((weights, i) => {
        this.joint[place] += weights[at * size ** (i + 1) + Math.floor(code / size ** (this.prefix - i - 1))];
      });
    }
  }

  // w_k at each position, for k up to the prefix, from the support sequences
  fill() {
    const { size } = this.model, L = this.length, made = [];
    for (let k = 1; k <= this.prefix; k++) {
      const sums = new Float64Array(L * size ** k), out = new Float64Array(L * size ** k), n = size ** k;
      this.coefficients.forEach((value, z) => {
        for (let at = 0; at + k <= L; at++) {
          const code = this.word(this.support, z * L + at, k);
          if (code >= 0) sums[at * n + code] += value;
        }
      });
      const own = this.length_weights[k - 1];
      this.here.forEach((here, i) => {
        const there = this.there[i], weight = own * this.weight[i];
        if (Math.max(here, there) + k <= L) for (let c = 0; c < n; c++) out[here * n + c] += weight * sums[there * n + c];
      });
      made.push(out);
    }
    return made;
  }

  word(codes, at, k) {
    let code = 0;
    for (let i = 0; i < k; i++) {
      if (codes[at + i] === MASKED) return -1;
      code = code * this.model.size + codes[at + i];
    }
    return code;
  }

  // lists of the support sequences that have each prefix at each position, and where each list starts
  index() {
    const L = this.length, n = this.model.size ** this.prefix, m = this.coefficients.length;
    this.starts = new Int32Array(L * n + 1);
    this.lists = new Int32Array(L * m);
    const visit = todo => {
      for (let at = 0; at + this.prefix < L; at++) {
        for (let z = 0; z < m; z++) {
          const code = this.word(this.support, z * L + at, this.prefix);
          if (code >= 0) todo(at * n + code, z);
        }
      }
    };
    visit(place => { this.starts[place + 1]++; });
    for (let i = 0; i < L * n; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    visit((place, z) => { this.lists[next[place]++] = z; });
  }

  // calls add(start, k, weight) for each k-mer; longer ones by placement
  explain(codes, add) {
    const norm = this.norm ? Math.sqrt(this.square(codes)) : 1;
    if (!(norm > 0)) return;
    const { size } = this.model, L = this.length;
    for (let k = 1; k <= this.prefix; k++) {
      const n = size ** k, weights = this.tables[k - 1];
      for (let at = 0; at + k <= L; at++) {
        const code = this.word(codes, at, k);
        if (code >= 0) add(at, k, weights[at * n + code] / norm);
      }
    }
    if (this.starts) this.longer(codes, (at, k, weight) => add(at, k, weight / norm));
  }

  // calls add(start, k, weight) for each k-mer longer than the prefix that a support sequence has too
  longer(codes, add) {
    const L = this.length, q = this.prefix, n = this.model.size ** q, words = new Int32Array(L).fill(-1);
    for (let at = 0; at + q < L; at++) words[at] = this.word(codes, at, q);
    for (let i = 0; i < this.here.length; i++) {
      const here = this.here[i], there = this.there[i], most = Math.min(this.degree, L - Math.max(here, there));
      if (most <= q || words[here] < 0) continue;
      const list = there * n + words[here], stop = this.starts[list + 1];
      for (let j = this.starts[list]; j < stop; j++) {
        const z = this.lists[j], place = z * L + there;
        for (let k = q; k < most && codes[here + k] === this.support[place + k] && codes[here + k] !== MASKED; k++) {
          add(here, k + 1, this.weight[i] * this.coefficients[z] * this.length_weights[k]);
        }
      }
    }
  }

  value(codes) {
    const L = this.length, q = this.prefix, { size } = this.model, n = size ** q, top = n / size;
    if (codes.length !== L) {
      this.model.note = `has ${codes.length} residues, the model needs ${L}`;
      return NaN;
    }
    let sum = 0, code = 0;
    for (let at = L - 1, known = 0; at >= 0; at--) {  // `code` is the k-mer from `at` on, `known` its residues
      if (codes[at] === MASKED) { known = code = 0; continue; }
      code = codes[at] * top + Math.floor(code / size);
      if (++known >= q) sum += this.joint[at * n + code];
      else for (let k = 1; k <= known; k++) sum += this.tables[k - 1][at * size ** k + Math.floor(code / size ** (q - k))];
    }
    if (this.starts) this.longer(codes, (at, k, weight) => { sum += weight; });
    return this.normalised(sum, this.norm && this.square(codes));
  }

  // K(x, x): runs of equal residues between the sequence and its shifts
  square(codes) {
    const L = this.length, runs = [];
    let sum = 0;
    for (let i = 0; i < this.here.length; i++) {
      const here = this.here[i], there = this.there[i], shift = Math.abs(here - there);
      let run = runs[shift];
      if (!run) {
        run = runs[shift] = new Int32Array(L + 1);
        for (let at = L - 1 - shift; at >= 0; at--) {
          run[at] = codes[at] === codes[at + shift] && codes[at] !== MASKED ? run[at + 1] + 1 : 0;
        }
      }
      const k = Math.min(run[Math.min(here, there)], this.degree);
      if (k) sum += this.weight[i] * this.sums[k - 1];
    }
    return sum;
  }
}

// FASTA: bytes to records, in pieces of any size

class Reader {
  constructor(model, each) {
    Object.assign(this, { model, each, header: null, pieces: [], line: [], lower: 0, swaps: 0, stops: 0, masked: {} });
    this.skipped = 0;
  }

  push(bytes) {
    let start = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== 10 && bytes[i] !== 13) continue;
      this.line.push(bytes.subarray(start, i));
      this.endLine();
      start = i + 1;
    }
    if (start < bytes.length) this.line.push(bytes.slice(start));
  }

  endLine() {
    const line = this.line.length === 1 ? this.line[0] : joined(this.line);
    this.line = [];
    if (line[0] === 62) {
      this.endRecord();
      this.header = new TextDecoder().decode(line.subarray(1)).trim();
    } else if (line.length) this.pieces.push(line.slice());
  }

  end() {
    if (this.line.length) this.endLine();
    this.endRecord();
  }

  endRecord() {
    if (this.header === null && !this.pieces.length) return;
    const { model } = this, text = joined(this.pieces), codes = new Uint8Array(text.length), unknown = [], places = [];
    let n = 0, stop = text.length, note = "", lower = 0, swaps = 0, stops = 0;
    while (stop && text[stop - 1] <= 32) stop--;
    if (stop && text[stop - 1] === 42 && !model.alphabet.letters.includes("*")) { stop--; stops++; }
    for (let i = 0; i < stop; i++) {
      const byte = text[i], code = model.code[byte];
      if (byte <= 32) continue;
      if (byte >= 97 && byte <= 122) lower++;
      swaps += model.swapped[byte];
      if (code === MASKED) {
        unknown.push(byte < 128 ? String.fromCharCode(byte).toUpperCase() : "that is not ASCII");
        places.push(n);
      }
      codes[n++] = code;
    }
    const refused = n ? this.refused(unknown, n) : -1;
    if (!n) note = "has no residues";
    else if (refused >= 0) {
      note = `letter ${unknown[refused]} at position ${places[refused] + 1} is not in the alphabet ${model.alphabet.name}`;
    } else {
      this.lower += lower;
      this.swaps += swaps;
      this.stops += stops;
      for (const letter of unknown) this.masked[letter] = (this.masked[letter] ?? 0) + 1;
    }
    const id = (this.header ?? "sequence").split(/\s/)[0] || "sequence";
    this.pieces = [];
    this.header = null;
    this.each(id, codes.subarray(0, n), note);
  }

  // which of the letters outside the alphabet the model's policy refuses first; -1: none. Many ambiguity codes among
  // bases mean protein
  refused(unknown, n) {
    const { unknown: policy, ambiguous, alphabet } = this.model;
    if (policy === "mask_all") return -1;
    if (policy !== "mask") return unknown.length ? 0 : -1;
    const odd = unknown.findIndex(letter => !ambiguous.includes(letter));
    const wide = unknown.filter(letter => letter === "N" || letter === "X").length;
    if (odd >= 0 || !alphabet.complement || 2 * (unknown.length - wide) <= n - wide) return odd;
    return unknown.findIndex(letter => letter !== "N" && letter !== "X");
  }

  remarks() {
    const found = [], [from, to] = this.model.swap ?? "  ";
    const masked = Object.entries(this.masked), total = masked.reduce((sum, [, count]) => sum + count, 0);
    if (this.lower) found.push(`${this.lower} lower-case letters`);
    if (this.stops) found.push(`${this.stops} terminal stops (*) removed`);
    if (this.swaps) found.push(`${this.swaps} letters ${from} read as ${to}`);
    if (total) {
      masked.sort();
      const each = masked.map(([letter, count]) => `${letter}: ${count}`).join(", ");
      found.push(`${total} letter${total === 1 ? "" : "s"} outside the alphabet (${each}) ${total === 1 ? "is" : "are"} masked`);
    }
    return found;
  }
}

function joined(pieces) {
  const out = new Uint8Array(pieces.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of pieces) { out.set(one, at); at += one.length; }
  return out;
}

// Jobs

let model = null, kept = [];
const cancelled = new Set();
const text = codes => Array.from(codes, code => code === MASKED ? model.masked : model.alphabet.letters[code]).join("");

async function score({ job, text: given, file }) {
  const total = file ? file.size : given.length;
  let records = 0, bytes = 0, room = KEPT, rows = { ids: [], lengths: [], decisions: [], notes: [] };
  const own = kept = [];  // a job that is cancelled may still add to its own
  const send = () => {
    const decisions = Float64Array.from(rows.decisions);
    postMessage({
      type: "rows", job, ids: rows.ids, lengths: Int32Array.from(rows.lengths), decisions, notes: rows.notes,
      probabilities: model.calibration ? decisions.map(value => model.probability(value)) : null,
    });
    rows = { ids: [], lengths: [], decisions: [], notes: [] };
    postMessage({ type: "progress", job, records, bytes, total });
  };
  const reader = new Reader(model, (id, codes, note) => {
    const decision = note ? NaN : model.decision(codes);
    records++;
    rows.ids.push(id);
    rows.lengths.push(codes.length);
    rows.decisions.push(decision);
    rows.notes.push(note || model.note);
    room -= codes.length;
    own.push(room >= 0 && !note ? [id, codes.slice()] : null);
    if (rows.ids.length >= BATCH) send();
  });
  const stream = file ? await opened(file) : new Blob([given]).stream();
  const source = stream.getReader();
  for (let piece; !(piece = await source.read()).done;) {
    if (cancelled.has(job)) { await source.cancel(); break; }
    bytes += piece.value.length;
    reader.push(piece.value);
  }
  reader.end();
  send();
  postMessage({ type: "done", job, records, remarks: reader.remarks() });
}

async function opened(file) {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const zipped = head[0] === 0x1f && head[1] === 0x8b;
  return zipped ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
}

function encoded(sequence) {
  return Uint8Array.from(sequence, letter => model.code[letter.charCodeAt(0)] ?? MASKED);
}

function explain({ job, sequence }) {
  const codes = encoded(sequence), { size } = model, decision = model.decision(codes);
  const contributions = new Float64Array(codes.length), words = [];
  if (model.note) return postMessage({ type: "error", job, text: `The sequence ${model.note}.` });
  for (const part of model.parts) {
    const piece = part.piece(codes), first = piece.byteOffset - codes.byteOffset, merged = new Map();
    part.explain(piece, (start, k, weight) => {
      for (let i = 0; i < k; i++) contributions[first + start + i] += weight / k;
      const key = start * 256 + k;
      merged.set(key, (merged.get(key) ?? 0) + weight);
    });
    for (const [key, weight] of merged) {
      const start = first + Math.floor(key / 256);
      words.push({ start, text: text(codes.subarray(start, start + key % 256)), weight });
    }
  }
  words.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const changes = new Float64Array(codes.length * size).fill(NaN);
  for (let i = 0; i < Math.min(codes.length, MOST_CHANGES); i++) {
    const own = codes[i];
    for (let letter = 0; letter < size; letter++) {
      codes[i] = letter;
      if (letter !== own) changes[i * size + letter] = model.decision(codes);
    }
    codes[i] = own;
  }
  const probability = model.probability(decision);
  const answer = { decision, probability, contributions, words: words.slice(0, MOST_WORDS), changes };
  postMessage({ type: "explained", job, sequence: text(codes), ...answer });
}

function scan({ job, sequence, window, step }) {
  const codes = encoded(sequence), starts = [];
  for (let at = 0; at + window <= codes.length; at += step) starts.push(at);
  const decisions = Float64Array.from(starts, at => model.decision(codes.subarray(at, at + window)));
  postMessage({ type: "scanned", job, starts: Int32Array.from(starts), decisions, window });
}

async function answer(message) {
  const { type, job, record } = message;
  if (type === "load") {
    model = new Model(message.model, await unpack(message.model.data));
    postMessage({ type: "ready" });
  } else if (type === "cancel") cancelled.add(job);
  else if (type === "score") await score(message);
  else if (type === "sequence") {
    const found = kept[record];
    postMessage({ type, job, id: found?.[0] ?? null, sequence: found ? text(found[1]) : null });
  } else if (type === "explain") explain(message);
  else if (type === "scan") scan(message);
}

onmessage = async ({ data }) => {
  try {
    await answer(data);
  } catch (error) {
    postMessage({ type: "error", job: data.job, text: error.message });
  }
};
