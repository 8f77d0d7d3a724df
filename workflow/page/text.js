// A pasted document under the caches alone. Its words are only ever set as text.

const pasted = {
  source: payload.text,
  box: document.getElementById("paste"),
  most: 3000, // tokens: the work grows with their square

  start() {
    this.view = new DocumentView(document.getElementById("yours"), "own", (t) => {
      state.ownToken = t;
      remember();
    });
    let waiting;
    this.box.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        state.text = this.box.value;
        state.ownToken = -1;
        this.read();
      }, 250);
    });
    document.getElementById("clear").addEventListener("click", () => {
      Object.assign(state, { text: "", ownToken: -1 });
      this.box.value = "";
      this.read();
      this.box.focus();
    });
    this.box.value = state.text;
    this.read();
  },

  /** Cut the text into tokens and run the caches over them. */
  read() {
    const { lowercase, abbreviations, words, bits: cost, reserved } = this.source;
    const sentences = tokenise(state.text, lowercase, new Set(abbreviations));
    const all = sentences.flatMap((sentence) => [...sentence, END]);
    const token = all.slice(0, this.most);
    this.vectors ??= new Vectors(this.source);
    this.bits ??= new Map(words.map((word, index) => [word, cost[index]]));
    const price = (word) => 2 ** -(this.bits.get(word) ?? this.bits.get(reserved[0]));
    const contexts = new Contexts(token, this.vectors);
    const models = this.source.models.map(({ key, label, lambda, beta }) => {
      const concentration = beta === "∞" ? Infinity : Number(beta);
      const looks = (t) => (t < 2 ? { positions: [], weights: [] } : heaviest(contexts.weights(t, concentration), 8));
      return { key, label, lambda, cache: contexts.cache(concentration), looks };
    });
    this.shown = {
      token,
      code: contexts.number,
      known: token.map((word) => this.bits.has(word)),
      spelling: token.map(() => 0),
      kn: token.map(price),
      models: [{ key: "kn", label: "frequencies alone", lambda: 1 }, ...models],
    };
    document.getElementById("own-length").textContent = token.length
      ? `${token.length}${token.length < all.length ? ` of ${all.length}` : ""} tokens, ${this.shown.known.filter((known) => !known).length} unknown`
      : "nothing to show yet";
    this.show();
  },

  show() {
    const { models } = this.shown;
    const found = models.findIndex(({ key }) => key === state.ownModel);
    const model = models[found < 1 ? models.findIndex(({ key }) => key === "chosen") : found];
    state.ownModel = model.key;
    choices("own-model", models.slice(1).map(({ label }) => label), (index) => {
      state.ownModel = models[index + 1].key;
      this.show();
    });
    check("own-model", models.indexOf(model) - 1);
    document.getElementById("own-result").hidden = !this.shown.token.length;
    if (state.ownToken >= this.shown.token.length) state.ownToken = -1;
    this.view.show(this.shown, model, state.ownToken);
    remember();
  },
};
