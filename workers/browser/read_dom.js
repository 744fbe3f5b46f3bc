// Serialises the document, in a world of its own: the page's scripts cannot change what is called here.
//
// The getters come from the prototypes, because elements may hide properties: <form name="title"> is document.title, and
// <form><input name="firstChild"></form> has an input as its firstChild. What is not shown is left out: scripts (but not JSON-LD),
// style sheets, templates, what is for browsers without scripts, comments. Open shadow roots stand before their host's children.
// Elements deeper than MAX_DEPTH are left out, but not their text: parsers give up on them.
((MAX_CHARACTERS, MAX_DEPTH, MAX_VALUE) => {
  const getter = (prototype, name) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name);
    return (object) => get.call(object);
  };
  const typeOf = getter(Node.prototype, "nodeType");
  const firstOf = getter(Node.prototype, "firstChild");
  const nextOf = getter(Node.prototype, "nextSibling");
  const nameOf = getter(Element.prototype, "localName");
  const attributesOf = getter(Element.prototype, "attributes");
  const shadowOf = getter(Element.prototype, "shadowRoot");
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const textOf = (node, most) => CharacterData.prototype.substringData.call(node, 0, most);
  const root = getter(Document.prototype, "documentElement")(document);

  const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
  const UNSEEN = new Set("script style noscript template iframe frame object svg canvas".split(" "));
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;" };
  const escaped = (text) => text.replace(/[&<>"\u00a0]/g, (character) => ESCAPES[character]);

  const parts = [];
  let left = MAX_CHARACTERS;
  const write = (text) => {
    parts.push(text.length > left ? text.slice(0, left) : text);
    left -= text.length;
  };
  const startTag = (element, name) => {
    let tag = "<" + name;
    const attributes = attributesOf(element);
    for (let i = 0; i < attributes.length && i < 50; i++) {
      const { name: key, value } = attributes[i];
      const isData = /^\s*data:/i.test(value.slice(0, 20));
      if (!isData && /^[^\s"'<>\/=]{1,60}$/.test(key)) tag += ` ${key}="${escaped(value.slice(0, MAX_VALUE))}"`;
    }
    return tag + ">";
  };

  const stack = root ? [[root, "", 0]] : [];  // a node, what is written behind its siblings, and its depth
  while (stack.length && left > 0) {
    const place = stack[stack.length - 1];
    const [node, end, depth] = place;
    if (!node) {
      write(end);
      stack.pop();
      continue;
    }
    place[0] = depth ? nextOf(node) : null;
    const type = typeOf(node);
    if (type === 3) write(escaped(textOf(node, left)));
    if (type !== 1) continue;
    const name = nameOf(node);
    if (UNSEEN.has(name)) {
      if (name === "script" && /^\s*application\/ld\+json/i.test(attribute(node, "type") || "")) {
        const child = firstOf(node);
        const text = child && typeOf(child) === 3 ? textOf(child, left) : "";
        write('<script type="application/ld+json">' + text + "</script>");
      }
      continue;
    }
    const isShown = depth < MAX_DEPTH && /^[a-z][a-z0-9._-]*$/.test(name);
    if (isShown) write(startTag(node, name));
    if (VOID.has(name)) continue;
    stack.push([firstOf(node), isShown ? `</${name}>` : "", depth + 1]);
    const shadow = shadowOf(node);
    if (shadow) stack.push([firstOf(shadow), "", depth + 1]);
  }
  const body = getter(Document.prototype, "body")(document);
  return {
    url: getter(Document.prototype, "URL")(document),
    title: getter(Document.prototype, "title")(document).slice(0, 10000),
    language: root ? (attribute(root, "lang") || "").slice(0, 100) : "",
    html: "<!DOCTYPE html>" + parts.join(""),
    // Of a document whose text has not come yet, there is a head at most, or nothing. Stopping it may add an empty body.
    hasBegun: root !== null && (nameOf(root) !== "html" || (body !== null && firstOf(body) !== null)),
  };
})
