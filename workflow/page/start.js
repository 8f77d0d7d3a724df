// What happens once everything above is defined.

recall();
theme.start();
lookup.start();
pasted.start();

for (const button of document.querySelectorAll("[data-jump]")) {
  button.addEventListener("click", () => {
    const section = document.getElementById(button.dataset.jump);
    section.scrollIntoView();
    section.focus({ preventScroll: true });
  });
}

document.getElementById("copy").addEventListener("click", async ({ target }) => {
  writeAddress();
  try {
    await navigator.clipboard.writeText(location.href);
    target.textContent = "Copied";
    setTimeout(() => { target.textContent = "Copy link"; }, 1500);
  } catch {
    prompt("The link to copy:", location.href); // a browser that keeps its clipboard from pages on disk
  }
});

addEventListener("hashchange", () => {
  recall();
  theme.apply();
  circle.show();
  lookup.show();
  pasted.box.value = state.text;
  pasted.read();
  recolour();
});

// For the tests: when the charts are drawn, and the functions whose results they compare.
window.laboratory = { ready: Promise.all([circle.start(), census.start()]), smooth, gains, tokenise, Vectors, Contexts };
