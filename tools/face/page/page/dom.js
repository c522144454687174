// Elements. Text only ever goes in as text.

const $ = id => document.getElementById(id);

function h(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className)
        element.className = className;
    element.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
    return element;
}
const span = (className, ...children) => h("span", className, ...children);
const div = (className, ...children) => h("div", className, ...children);

function link(href, className, ...children) {
    const a = h("a", className, ...children);
    a.href = href;
    return a;
}
// Something that acts in place.
function button(className, action, ...children) {
    const b = h("button", className, ...children);
    b.type = "button";
    b.addEventListener("click", action);
    return b;
}
// One of several choices.
function segment(isOn, action, text) {
    const b = button("seg", action, text);
    b.setAttribute("aria-pressed", String(isOn));
    return b;
}
// Leads to another place, with a key that does the same; there may be none.
function moveButton(isThere, place, text, key) {
    const b = button("action", () => go({...place, event: null}), text, kbd(key));
    b.disabled = !isThere;
    return b;
}
function role(element, name, attributes = {}) {
    element.setAttribute("role", name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, value);
    return element;
}
const kbd = key => h("kbd", "", key);
function say(text) {
    $("live").textContent = text;
}
