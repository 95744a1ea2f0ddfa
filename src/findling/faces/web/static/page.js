// Keys, and which key press is a step to go back to. Everything else works without it.
"use strict";
(() => {
  const STEP_MS = 3000; // after so long without typing the next answer is a step of its own
  const box = () => document.getElementById("q");
  const places = () => [...document.querySelectorAll("#main a.go")];
  const help = () => document.getElementById("help");
  let typedAt = 0;

  const move = (by) => {
    const all = places();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    if (at === 0 && by < 0 && box()) return box().focus();
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
    next.focus();
    next.closest("article, li")?.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help()?.open) return;
    const writing = event.target.matches?.("input, select, textarea");
    const key = event.key;
    if (writing && event.target === box() && key === "ArrowDown") move(1);
    else if (writing && key === "Escape") event.target.blur();
    else if (writing) return;
    else if (key === "/") (box() ? (box().focus(), box().select()) : location.assign("/"));
    else if (key === "?") help()?.showModal();
    else if (key === "j" || (key === "ArrowDown" && places().includes(document.activeElement))) move(1);
    else if (key === "k" || (key === "ArrowUp" && places().includes(document.activeElement))) move(-1);
    else if (key === "w") {
      const why = document.activeElement?.closest("article")?.querySelector("details.why");
      if (!why) return;
      why.open = !why.open;
    } else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("#help-button")) help()?.showModal();
  });

  // A run has ended: what is shown is asked for again, once for each address.
  let busy = false;
  let again = "";
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id !== "progress") return;
    const ended = busy && !event.target.textContent.trim();
    busy = Boolean(event.target.textContent.trim());
    if (!ended || again === location.href) return;
    again = location.href;
    if (location.pathname === "/index") location.reload();
    else if (location.search) document.querySelector(".ask .filters")?.dispatchEvent(new Event("change"));
  });

  // Only pages have HTML. Any other answer (a request that is too long, a link that is no longer right) is shown as text.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target } = event.detail;
    if (xhr.getResponseHeader("Content-Type")?.startsWith("text/html")) return;
    event.detail.shouldSwap = false;
    target.textContent = xhr.responseText;
  });

  document.addEventListener("htmx:configRequest", (event) => {
    if (event.target.id === "progress" && document.hidden) return event.preventDefault(); // nobody looks
    if (!event.target.matches?.("form.ask")) return;
    if (Date.now() - typedAt > STEP_MS && location.search) event.detail.headers["X-Findling-Step"] = "first";
    typedAt = Date.now();
  });
})();
