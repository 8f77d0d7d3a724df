// A document token by token: shaded by what a model saves, with where its kernel looks from the token in hand.

const END = "</s>";
const DEEPEST = 8; // bits that give the full shade

/** Bits of token t under a model of the document. */
function bits(shown, model, t) {
  const cache = model.cache?.[t] ?? null;
  const probability = cache === null ? shown.kn[t] : model.lambda * shown.kn[t] + (1 - model.lambda) * cache;
  return shown.spelling[t] - Math.log2(probability);
}

/** The earlier positions that token t is copied from: those of the same word that have a previous token. */
function occurrences(shown, t) {
  return shown.code.slice(0, t).flatMap((code, j) => (j > 0 && code === shown.code[t] ? [j] : []));
}

/**
 * A view of one document. `root` holds elements marked data-part: text, facts, heaviest; `changed(t)` is called when
 * another token is taken in hand.
 */
class DocumentView {
  constructor(root, prefix, changed) {
    this.part = (name) => root.querySelector(`[data-part=${name}]`);
    this.prefix = prefix;
    this.changed = changed;
    this.text = this.part("text");
    this.text.addEventListener("click", ({ target }) => {
      const token = target.closest(".token");
      if (token) this.take(Number(token.dataset.t));
    });
    this.text.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show a document under one of its models, with token t in hand (-1: none). */
  show(shown, model, t) {
    this.model = model;
    this.t = t;
    if (this.shown !== shown) this.write(shown);
    this.shade();
    this.point();
  }

  take(t) {
    this.t = t;
    this.point();
    this.changed(t);
  }

  key(event) {
    const { token } = this.shown;
    const sentence = (from, step) => {
      let t = from;
      while (t > 0 && t < token.length - 1 && token[t - 1] !== END) t += step;
      return t;
    };
    const here = Math.max(this.t, 0);
    const steps = {
      ArrowLeft: () => here - 1,
      ArrowRight: () => here + 1,
      ArrowUp: () => sentence(sentence(here, -1) - 1, -1),
      ArrowDown: () => sentence(here + 1, 1),
      Home: () => 0,
      End: () => token.length - 1,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.take(Math.min(Math.max(steps[event.key](), 0), token.length - 1));
  }

  write(shown) {
    this.shown = shown;
    this.tokens = shown.token.map((word, t) => {
      const element = document.createElement("span");
      element.className = "token";
      element.id = `${this.prefix}-${t}`;
      element.dataset.t = t;
      element.setAttribute("role", "option");
      element.textContent = word === END ? "¶" : word;
      element.classList.toggle("end", word === END);
      element.classList.toggle("unknown", !shown.known[t]);
      return element;
    });
    const pieces = this.tokens.flatMap((element, t) => [element, shown.token[t] === END ? "\n" : " "]);
    this.text.replaceChildren(...pieces);
  }

  shade() {
    const baseline = this.shown.models[0];
    this.tokens.forEach((element, t) => {
      const saved = bits(this.shown, baseline, t) - bits(this.shown, this.model, t);
      const depth = Math.sqrt(Math.min(Math.abs(saved) / DEEPEST, 1));
      element.style.setProperty("--shade", `${(60 * depth).toFixed(1)}%`);
      element.style.setProperty("--side", saved >= 0 ? "var(--save)" : "var(--spend)");
      const name = this.shown.token[t] === END ? "sentence end" : this.shown.token[t];
      const unknown = this.shown.known[t] ? "" : ", unknown word";
      element.setAttribute("aria-label", `${name}${unknown}, ${saved >= 0 ? "saves" : "spends"} ${Math.abs(saved).toFixed(2)} bits`);
    });
  }

  point() {
    for (const element of this.tokens) {
      element.classList.remove("taken", "copied", "heavy");
      element.removeAttribute("aria-selected");
    }
    const { shown, model, t } = this;
    if (t < 0) {
      this.text.removeAttribute("aria-activedescendant");
      this.part("facts").replaceChildren();
      this.part("heaviest").replaceChildren();
      return;
    }
    const copied = model.cache ? occurrences(shown, t) : [];
    const { positions, weights } = model.looks ? model.looks(t) : { positions: [], weights: [] };
    this.tokens[t].classList.add("taken");
    this.tokens[t].setAttribute("aria-selected", "true");
    this.text.setAttribute("aria-activedescendant", this.tokens[t].id);
    this.keepInView(this.tokens[t]);
    for (const j of copied) this.tokens[j].classList.add("copied");
    positions.forEach((j, i) => {
      this.tokens[j].classList.add("heavy");
      this.tokens[j].style.setProperty("--weight", `${(25 + 75 * (weights[i] / weights[0])).toFixed(0)}%`);
    });
    this.report(copied, positions, weights);
  }

  /** Scroll the box, and never the page, to a token. */
  keepInView({ offsetTop, offsetHeight }) {
    const { scrollTop, clientHeight } = this.text;
    const inView = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
    if (!inView) this.text.scrollTop = offsetTop - clientHeight / 2;
  }

  report(copied, positions, weights) {
    const { shown, model, t } = this;
    const baseline = shown.models[0];
    const [before, after] = [bits(shown, baseline, t), bits(shown, model, t)];
    const facts = [["token", "token", shown.token[t]], ["kn", `its bits, ${baseline.label}`, before.toFixed(2)]];
    if (model !== baseline) {
      facts.push(
        ["bits", `its bits, ${model.label}`, after.toFixed(2)],
        ["saved", before >= after ? "saved" : "spent", `${Math.abs(before - after).toFixed(2)} bits`],
        ["cache", "cache probability of this word", model.cache[t] === null ? "nothing precedes" : model.cache[t].toFixed(3)],
        ["copied", "earlier occurrences it is copied from", String(copied.length)],
      );
    }
    if (shown.spelling[t] > 0) facts.push(["spelling", "of its bits, for its spelling", shown.spelling[t].toFixed(2)]);
    this.part("facts").replaceChildren(...facts.flatMap(([name, label, value]) => {
      const [term, description] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = label;
      description.textContent = value;
      description.dataset.fact = name;
      return [term, description];
    }));
    this.part("heaviest").replaceChildren(...positions.map((j, i) => {
      const item = document.createElement("li");
      const [word, weight, context] = ["b", "span", "small"].map((tag) => document.createElement(tag));
      word.textContent = shown.token[j] === END ? "¶" : shown.token[j];
      weight.textContent = weights[i].toFixed(3);
      context.textContent = `after ${shown.token[j - 1] === END ? "¶" : shown.token[j - 1]}`;
      item.append(word, weight, context);
      return item;
    }));
  }
}

// Panel B: the lookup.
const lookup = {
  documents: payload.documents,

  start() {
    for (const shown of this.documents) {
      for (const model of shown.models) {
        if (model.cache) model.looks = (t) => ({ positions: model.positions[t], weights: model.weights[t] });
      }
    }
    const select = document.getElementById("document");
    select.replaceChildren(...this.documents.map(({ title }, index) => new Option(title, index)));
    select.addEventListener("change", () => {
      state.document = Number(select.value);
      state.token = this.shown.selected;
      this.show();
    });
    this.view = new DocumentView(document.getElementById("lookup"), "token", (t) => {
      state.token = t;
      remember();
    });
    this.show();
  },

  get shown() {
    return this.documents[state.document];
  },

  show() {
    const { shown } = this;
    document.getElementById("document").value = state.document;
    const found = shown.models.findIndex(({ key }) => key === state.model);
    const model = shown.models[found < 0 ? 0 : found];
    state.model = model.key;
    choices("model", shown.models.map(({ label }) => label), (index) => {
      state.model = shown.models[index].key;
      this.show();
    });
    check("model", shown.models.indexOf(model));
    if (state.token >= shown.token.length) state.token = shown.selected;
    this.view.show(shown, model, state.token);
    this.summarise(shown, model);
    remember();
  },

  summarise(shown, model) {
    const part = (name) => document.getElementById(`document-${name}`);
    part("kn").textContent = shown.models[0].bits_per_character.toFixed(3);
    part("model").textContent = model.bits_per_character.toFixed(3);
    part("label").textContent = `document, ${model.label}`;
    part("length").textContent = shown.token.length < shown.tokens
      ? `the first ${shown.token.length} of ${shown.tokens} tokens; bits per character are of all of them`
      : `${shown.tokens} tokens`;
    const losses = payload.heldout[shown.collection];
    const table = document.getElementById("losses");
    table.hidden = !losses;
    if (!losses) return;
    table.caption.textContent = `All held-out documents of ${shown.collection}, nats per token`;
    table.tBodies[0].replaceChildren(...losses.grid.map((row) => {
      const line = document.createElement("tr");
      line.classList.toggle("chosen", row.chosen);
      const cells = [`β = ${row.beta}${row.chosen ? " (dev choice)" : ""}`, row.lambda.toFixed(2), row.dev.toFixed(4), row.heldout.toFixed(4)];
      for (const text of cells) line.insertCell().textContent = text;
      return line;
    }));
  },
};
