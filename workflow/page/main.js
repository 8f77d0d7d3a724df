// The page's state, which its address carries, and what all panels share.

const payload = JSON.parse(document.getElementById("payload").textContent);

const state = { setting: 0, c: 0, document: 0, model: "chosen", token: -1, text: "", ownModel: "chosen", ownToken: -1, theme: "" };
const LONGEST_LINK = 6000; // characters of a pasted text that still go into the address

/** Index of the value nearest to a number. */
function nearest(values, wanted) {
  return values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);
}

/** Fill a group with one radio button a label; `chosen(index)` is called when one is taken. */
function choices(group, labels, chosen) {
  const place = document.querySelector(`[data-choices=${group}]`);
  const old = [...place.querySelectorAll("span")].map(({ textContent }) => textContent);
  if (old.join() !== labels.join()) {
    place.replaceChildren(...labels.map((label, index) => {
      const [element, input, text] = ["label", "input", "span"].map((tag) => document.createElement(tag));
      Object.assign(input, { type: "radio", name: group, value: index });
      text.textContent = label;
      element.append(input, text);
      return element;
    }));
  }
  place.onchange = ({ target }) => chosen(Number(target.value));
}

/** Mark one of a group's buttons as taken. */
function check(group, index) {
  document.querySelector(`[data-choices=${group}] input[value="${index}"]`).checked = true;
}

/** Take the state from the address; what makes no sense there is left as it was. */
function recall() {
  const first = payload.circle[0];
  Object.assign(state, { c: first.nearest, token: payload.documents[0].selected });
  const address = new URLSearchParams(location.hash.slice(1));
  const within = (name, size) => {
    const value = Number(address.get(name));
    if (address.has(name) && Number.isInteger(value) && value >= 0 && value < size) state[name] = value;
  };
  within("setting", payload.circle.length);
  if (address.has("c") && Number.isFinite(Number(address.get("c")))) {
    state.c = nearest(payload.circle[state.setting].c, Number(address.get("c")));
  } else {
    state.c = payload.circle[state.setting].nearest;
  }
  within("document", payload.documents.length);
  state.token = payload.documents[state.document].selected;
  within("token", payload.documents[state.document].token.length);
  within("ownToken", pasted.most);
  for (const name of ["model", "ownModel", "text", "theme"]) state[name] = address.get(name) ?? state[name];
}

let remembering;

/** Put the state into the address, soon: browsers slow a page down that does so at every move of a slider. */
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(writeAddress, 200);
}

function writeAddress() {
  clearTimeout(remembering);
  const kept = { ...state, c: payload.circle[state.setting].c[state.c] };
  const tooLong = state.text.length > LONGEST_LINK;
  if (tooLong) delete kept.text;
  const entries = Object.entries(kept).filter(([, value]) => value !== "" && value !== -1);
  history.replaceState(null, "", `#${new URLSearchParams(entries)}`);
  document.getElementById("link-note").textContent = tooLong ? "The link leaves your text out: it is too long." : "";
}

const theme = {
  button: document.getElementById("theme"),
  dark: matchMedia("(prefers-color-scheme: dark)"),

  get now() {
    return ["light", "dark"].includes(state.theme) ? state.theme : this.dark.matches ? "dark" : "light";
  },

  start() {
    this.apply();
    this.dark.addEventListener("change", () => this.apply() && recolour());
    this.button.addEventListener("click", () => {
      state.theme = this.now === "dark" ? "light" : "dark";
      this.apply();
      remember();
      recolour();
    });
  },

  apply() {
    document.documentElement.dataset.theme = this.now;
    this.button.textContent = this.now === "dark" ? "Light" : "Dark";
    this.button.setAttribute("aria-label", `use ${this.now === "dark" ? "light" : "dark"} colours`);
    return true;
  },
};
