// Panel A: temperature is bandwidth.

const around = (points) => Array.from({ length: points }, (_, i) => (2 * Math.PI * i) / (points - 1));

const circle = {
  settings: payload.circle,
  slider: document.getElementById("c"),

  get setting() {
    return this.settings[state.setting];
  },

  async start() {
    choices("setting", this.settings.map(({ spectrum, n }) => `${spectrum} f, n = ${n}`), (index) => {
      // Another grid: the slider stays at the concentration nearest to the one it had.
      const { c } = this.setting;
      state.setting = index;
      state.c = nearest(this.setting.c, c[state.c]);
      this.show();
    });
    this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
    for (const button of document.querySelectorAll("[data-c]")) {
      button.addEventListener("click", () => {
        const places = { mean: 0, optimum: this.setting.nearest, lookup: this.setting.c.length - 1 };
        this.move(places[button.dataset.c]);
      });
    }
    this.show();
    await draw("smoother", () => this.smoother());
    await draw("gains", () => this.gains());
    await draw("risk", () => this.risk());
  },

  move(index) {
    state.c = index;
    this.show();
  },

  show() {
    const { setting } = this;
    state.c = Math.min(state.c, setting.c.length - 1);
    const c = setting.c[state.c];
    check("setting", state.setting);
    this.slider.max = setting.c.length - 1;
    this.slider.value = state.c;
    this.slider.setAttribute("aria-valuetext", `c = ${c}`);
    const values = {
      c,
      last: setting.c.at(-1),
      risk: setting.risk[state.c].toFixed(4),
      bias2: setting.bias2[state.c].toFixed(4),
      variance: setting.variance[state.c].toFixed(4),
      gain1: setting.gain1[state.c].toFixed(3),
      c_star: setting.c_star.toFixed(3),
      risk_star: setting.risk_star.toFixed(4),
      trained: setting.trained.toFixed(3),
    };
    for (const [name, value] of Object.entries(values)) document.getElementById(`circle-${name}`).textContent = value;
    for (const name of ["smoother", "gains", "risk"]) refill(name);
    remember();
  },

  smoother() {
    const { true: clean, noisy, c } = this.setting;
    const angles = around(clean.length);
    const keys = noisy.map((_, j) => (2 * Math.PI * j) / noisy.length);
    const points = (values, at) => values.map((value, i) => ({ theta: at[i], value }));
    const output = smooth(noisy, c[state.c], angles);
    return { datasets: { true: points(clean, angles), noisy: points(noisy, keys), output: points(output, angles) } };
  },

  gains() {
    const { n, c, variances } = this.setting;
    const values = gains(n, c[state.c]).map((gain, mode) => {
      return { mode, gain: Math.max(gain, 0), carried: mode >= 1 && mode <= variances.length };
    });
    return { datasets: { gains: values } };
  },

  risk() {
    const { c, risk, bias2, variance, c_star, trained } = this.setting;
    const parts = { risk, "bias²": bias2, variance };
    const curve = Object.entries(parts).flatMap(([part, values]) =>
      values.map((value, i) => ({ part, c: c[i], value: Math.max(value, 1e-6) })));
    return { datasets: { curve }, signals: { c: c[state.c], c_star, trained } };
  },
};
