// Pages can be used without this: it adds copy buttons, and searches while the reader types.
for (const box of document.querySelectorAll(".code[data-what]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const tell = (text) => {
    button.textContent = text;
    button.setAttribute("aria-label", `${text}: ${box.dataset.what}`);
  };
  tell("Copy");
  button.addEventListener("click", async () => {
    const code = box.querySelector("pre");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code); // without TLS a page has no clipboard, but it may copy a selection
      document.execCommand("copy");
    }
    tell("Copied");
  });
  button.addEventListener("blur", () => tell("Copy"));
  box.append(button);
}

const form = document.querySelector(".search");
if (form) {
  const field = form.elements.q;
  const chips = [...document.querySelectorAll(".chips a")];
  let category = new URLSearchParams(location.search).get("category") ?? "";
  const address = (words, name) => {
    const chosen = new URLSearchParams();
    if (words) chosen.set("q", words);
    if (name) chosen.set("category", name);
    const text = chosen.toString();
    return form.getAttribute("action") + (text && `?${text}`);
  };
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const section of document.querySelectorAll(".section")) {
      let shown = 0;
      for (const row of section.querySelectorAll(".rows > li")) {
        const fits = words.every((word) => row.dataset.text.includes(word));
        row.hidden = !(fits && (!category || category === section.dataset.category));
        if (!row.hidden) shown += 1;
      }
      section.hidden = !shown;
      count += shown;
    }
    document.querySelector(".status").textContent = `${count} ${count === 1 ? "call" : "calls"}`;
    document.querySelector(".none").hidden = count > 0;
    const text = field.value.trim();
    for (const chip of chips) {
      chip.href = address(text, chip.dataset.category);
      if (chip.dataset.category === category) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
    history.replaceState(null, "", address(text, category));
  };
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  for (const chip of chips) {
    chip.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      category = chip.dataset.category;
      show();
    });
  }
}
