// A picture dropped anywhere or pasted goes the way of one that is chosen: into the form's field, and off.
"use strict";

(() => {
  const form = document.querySelector("form.drop");
  if (!form) return;
  const field = form.querySelector("input[type=file]");
  const alert = form.querySelector("[role=alert]");
  const most = Number(form.dataset.maxBytes);

  const send = () => {
    const file = field.files[0];
    if (!file) return;
    if (file.size > most) {
      alert.textContent = `${file.name}: ${file.size.toLocaleString()} bytes; at most ${most.toLocaleString()} are taken`;
      field.value = "";
      return;
    }
    alert.textContent = "";
    form.classList.add("busy");
    form.requestSubmit();
  };

  const take = (transfer) => {
    const files = Array.from(transfer?.files ?? []);
    if (!files.length) return false;
    const one = new DataTransfer();
    one.items.add(files[0]);
    field.files = one.files;
    send();
    return true;
  };

  field.addEventListener("change", send);
  document.addEventListener("paste", (event) => {
    if (take(event.clipboardData)) event.preventDefault();
  });
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) form.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    take(event.dataTransfer);
  });
  // Back from the results, the page may come from the browser's memory as it was left.
  window.addEventListener("pageshow", () => form.classList.remove("busy"));
})();
