// The census: the gradient across lags.

const NAMES = { attention: "attention", elman: "Elman", lstm_fb1: "LSTM, forget bias 1", lstm_fb3: "LSTM, forget bias 3" };

/** A power of ten, from its exponent: three digits. */
function power(exponent) {
  if (exponent === null) return "–";
  const whole = Math.floor(exponent);
  const mantissa = (10 ** (exponent - whole)).toFixed(2);
  return mantissa === "10.00" ? `1.00e${whole + 1}` : `${mantissa}e${whole}`;
}

const census = {
  async start() {
    const name = (model) => NAMES[model] ?? model;
    const values = payload.census.flatMap(({ model, lag, ours, published }) => [
      { name: name(model), lag, source: "computed here", exponent: ours, written: power(ours) },
      { name: name(model), lag, source: "published", exponent: published, written: power(published) },
    ]);
    await draw("census", () => ({ datasets: { census: values } }));
    const rows = payload.census.map(({ model, lag, ours, published }) => {
      const row = document.createElement("tr");
      for (const text of [name(model), lag, power(published), power(ours)]) row.insertCell().textContent = text;
      return row;
    });
    document.getElementById("census-rows").replaceChildren(...rows);
  },
};
