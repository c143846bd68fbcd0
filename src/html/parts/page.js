"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // A picture before and after: the divider, and the buttons that choose the view.
  function startViewer(viewer) {
    const divider = viewer.querySelector(".divider");
    const stage = viewer.querySelector(".stage");
    if (divider) {
      const show = () => {
        const left = Number(divider.value);
        stage.style.setProperty("--at", left + "%");
        const { before, after } = divider.dataset;
        divider.setAttribute("aria-valuetext", `${left} % ${before}, ${100 - left} % ${after}`);
      };
      divider.addEventListener("input", show);
      show();
    }
    const buttons = viewer.querySelectorAll(".modes button");
    for (const button of buttons) {
      button.addEventListener("click", () => {
        viewer.dataset.mode = button.dataset.mode;
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      });
    }
  }
  document.querySelectorAll(".viewer").forEach(startViewer);

  const copy = document.getElementById("copy");
  const command = document.getElementById("repeat");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const selection = getSelection();
    selection.selectAllChildren(command);
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "Copied";
    } catch (refused) {
      copy.textContent = "Selected";
    }
  });

  const grid = document.getElementById("grid");
  if (!grid) return;

  // Thumbnails by name, by status and in an order.
  const cards = Array.from(grid.children, (element, place) => ({
    element,
    place,
    status: element.dataset.status,
    name: element.querySelector(".name").textContent,
    time: Number(element.dataset.time ?? -1),
    difference: Number(element.dataset.difference ?? -1),
  }));
  for (const card of cards) card.searched = card.name.toLowerCase();
  const orders = {
    "": (a, b) => a.place - b.place,
    name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }) || a.place - b.place,
    time: (a, b) => b.time - a.time || a.place - b.place,
    difference: (a, b) => b.difference - a.difference || a.place - b.place,
  };
  const nameField = document.getElementById("name");
  const orderField = document.getElementById("order");
  const statusButtons = document.querySelectorAll(".controls [data-status]");
  let status = "";
  let shown = cards;

  function apply() {
    const part = nameField.value.trim().toLowerCase();
    shown = [];
    for (const card of cards) {
      const fits = card.searched.includes(part) && (!status || card.status === status);
      card.element.hidden = !fits;
      if (fits) shown.push(card);
    }
    document.getElementById("shown").textContent = `${shown.length} of ${cards.length} shown`;
  }
  function sort() {
    cards.sort(orders[orderField.value]);
    grid.append(...cards.map((card) => card.element));
    apply();
  }
  nameField.addEventListener("input", apply);
  orderField.addEventListener("change", sort);
  for (const button of statusButtons) {
    button.addEventListener("click", () => {
      status = button.dataset.status;
      for (const other of statusButtons) other.setAttribute("aria-pressed", String(other === button));
      apply();
    });
  }
  const controls = document.querySelector(".controls");
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.hidden = false;
  if (orderField.value) sort();
  else apply();

  // One picture, large. The address names it, so that it can be linked to.
  const dialog = document.getElementById("detail");
  const body = document.getElementById("detail-body");
  const previous = document.getElementById("previous");
  const next = document.getElementById("next");
  let current = null;

  function show(card) {
    current = card;
    document.getElementById("detail-name").textContent = card.name;
    body.replaceChildren(card.element.querySelector("template").content.cloneNode(true));
    body.querySelectorAll(".viewer").forEach(startViewer);
    const place = shown.indexOf(card);
    previous.disabled = place <= 0;
    next.disabled = place < 0 || place === shown.length - 1;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    (body.querySelector(".divider") ?? document.getElementById("close")).focus({ preventScroll: true });
    history.replaceState(null, "", "#" + card.element.id);
  }
  function step(by) {
    const card = shown[shown.indexOf(current) + by];
    if (card) show(card);
  }
  grid.addEventListener("click", (event) => {
    const link = event.target.closest(".open");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(cards.find((card) => card.element.contains(link)));
  });
  previous.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  document.getElementById("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    body.replaceChildren();
    history.replaceState(null, "", location.pathname + location.search);
    current.element.querySelector(".open").focus();
  });
  const named = cards.find((card) => "#" + card.element.id === location.hash);
  if (named) show(named);
})();
