// The numerics of the page. Each function here does what one of attnkernel's does, on one document or one circle.

/** Keys and queries of n angles score c cos(difference): what attention makes of y at each of the angles `at`. */
function smooth(y, c, at) {
  const n = y.length;
  return at.map((theta) => {
    const scores = y.map((_, j) => c * Math.cos(theta - (2 * Math.PI * j) / n));
    const largest = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.reduce((sum, weight, j) => sum + weight * y[j], 0) / total;
  });
}

/** Gains of the modes 0 to n / 2: the discrete Fourier transform of the weights of one query. */
function gains(n, c) {
  const angles = Array.from({ length: n }, (_, j) => (2 * Math.PI * j) / n);
  const weights = angles.map((angle) => Math.exp(-2 * c * Math.sin(angle / 2) ** 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length: Math.floor(n / 2) + 1 }, (_, k) =>
    weights.reduce((sum, weight, j) => sum + weight * Math.cos(angles[(j * k) % n]), 0) / total);
}

/** Sentences of words, as corpus.tokens.tokenise finds them. */
function tokenise(text, lowercase, abbreviations) {
  const plain = text
    .replace(/\r\n?/g, "\n")
    .normalize("NFKC")
    .replace(/[\ufeff\u200b\u200c\u200d\u2060\u00ad]/g, "")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u2010\u2011]/g, "-")
    .replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/g, " ");
  const boundary = /(?<=[.!?])["')\]\u201d]*\s+(?=["'(\[\u201c]*[A-Z0-9])/g;
  const word = /[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+|(?<=\p{Nd})[.,]\p{Nd}+)*/gu;
  const isAbbreviation = (before) => {
    const last = /([^\s(["']+)\.$/.exec(before)?.[1];
    return last !== undefined && (abbreviations.has(last.toLowerCase()) || /^\p{Lu}$/u.test(last));
  };
  const sentences = [];
  for (const line of plain.split("\n")) {
    let start = 0;
    for (const match of line.matchAll(boundary)) {
      if (isAbbreviation(line.slice(start, match.index))) continue;
      sentences.push(line.slice(start, match.index));
      start = match.index + match[0].length;
    }
    sentences.push(line.slice(start));
  }
  return sentences
    .map((sentence) => (lowercase ? sentence.toLowerCase() : sentence).match(word) ?? [])
    .filter((words) => words.length);
}

/** Vectors of the page's corpus by word; a word that training does not know has the zero vector. */
class Vectors {
  constructor({ words, row, dimensions, vectors }) {
    const bytes = Uint8Array.from(atob(vectors), (character) => character.charCodeAt(0));
    this.components = new Int16Array(bytes.buffer);
    this.dimensions = dimensions;
    this.rows = new Map(words.map((word, index) => [word, row[index]]));
  }

  of(word) {
    const row = this.rows.get(word);
    if (row === undefined) return new Int16Array(this.dimensions);
    return this.components.subarray(row * this.dimensions, (row + 1) * this.dimensions);
  }
}

/** Inner product of two vectors of integers, which is exact, so that identical vectors tie exactly. */
function cosine(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum / 32767 ** 2;
}

/** A document's contexts, each distinct one once, and the cosines between them. */
class Contexts {
  constructor(tokens, vectors) {
    const numbers = new Map();
    this.number = tokens.map((token) => {
      if (!numbers.has(token)) numbers.set(token, numbers.size);
      return numbers.get(token);
    });
    const rows = [...numbers.keys()].map((token) => vectors.of(token));
    this.scores = rows.map((a) => Float64Array.from(rows, (b) => cosine(a, b)));
  }

  /** Weights of the earlier positions 1 to t - 1 as seen from position t (Definition 3); beta may be Infinity. */
  weights(t, beta) {
    const scores = this.scores[this.number[t - 1]];
    const seen = this.number.slice(0, t - 1).map((context) => scores[context]);
    const largest = seen.reduce((a, b) => Math.max(a, b), -Infinity);
    const raw = seen.map((score) => (beta === Infinity ? Number(score === largest) : Math.exp(beta * (score - largest))));
    const total = raw.reduce((sum, weight) => sum + weight, 0);
    return raw.map((weight) => weight / total);
  }

  /** Probability that the cache gives each token; null where nothing precedes. */
  cache(beta) {
    return this.number.map((word, t) => {
      if (t < 2) return null;
      return this.weights(t, beta).reduce((sum, weight, j) => sum + (this.number[j + 1] === word ? weight : 0), 0);
    });
  }
}

/** The positions of greatest weight, the nearer first among equals. */
function heaviest(weights, count) {
  const order = weights.map((weight, j) => j + 1).filter((j) => weights[j - 1] > 0);
  order.sort((a, b) => weights[b - 1] - weights[a - 1] || b - a);
  const positions = order.slice(0, count);
  return { positions, weights: positions.map((j) => weights[j - 1]) };
}
