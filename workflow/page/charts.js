// Charts: Vega-Lite specifications drawn in the page's colours, and drawn again when these change.

const charts = new Map();
const specifications = JSON.parse(document.getElementById("charts").textContent);

/**
 * Draw a chart into its element. `content()` gives what it shows, now and whenever the colours change: data sets and
 * signals, by name.
 */
async function draw(name, content) {
  const style = getComputedStyle(document.documentElement);
  const colour = (property) => style.getPropertyValue(property).trim();
  const text = JSON.stringify(specifications[name]).replace(/var\((--[\w-]+)\)/g, (_, property) => colour(property));
  const { datasets, signals = {} } = content();
  const specification = { ...JSON.parse(text), datasets };
  specification.params = Object.entries(signals).map(([signal, value]) => ({ name: signal, value }));
  const config = {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    axis: {
      labelColor: colour("--muted"),
      titleColor: colour("--ink"),
      gridColor: colour("--line"),
      domainColor: colour("--line-strong"),
      tickColor: colour("--line-strong"),
      titleFontWeight: "normal",
      labelFontSize: 11,
      titleFontSize: 12,
    },
    legend: { labelColor: colour("--ink"), titleColor: colour("--ink"), labelFontSize: 12 },
  };
  // The interpreter makes no code from text, so the page's policy can forbid that.
  const options = { actions: false, renderer: "svg", ast: true, config };
  charts.get(name)?.view.finalize();
  const { view } = await vegaEmbed(`#chart-${name}`, specification, options);
  charts.set(name, { view, content });
}

/** Give a drawn chart what it shows now. */
function refill(name) {
  if (!charts.has(name)) return;
  const { view, content } = charts.get(name);
  const { datasets, signals = {} } = content();
  for (const [data, values] of Object.entries(datasets)) view.data(data, values);
  for (const [signal, value] of Object.entries(signals)) view.signal(signal, value);
  view.runAsync();
}

/** Draw all charts again, in the colours that the page has now. */
function recolour() {
  return Promise.all([...charts].map(([name, { content }]) => draw(name, content)));
}
