// Elements from code: what people said is always text, never markup.

type Child = Node | string | null | false;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Partial<Omit<HTMLElementTagNameMap[K], "style">> & { class?: string } = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  const { class: name, ...rest } = properties;
  if (name) made.className = name;
  Object.assign(made, rest);
  made.append(...children.filter((child) => child !== null && child !== false));
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** A text in which these words stand out, wherever they are. */
export function marked(text: string, wanted: string[]): Child[] {
  const words = wanted.filter((word) => word.length > 1 || /[\u3400-\u9fff]/.test(word));
  if (!words.length) return [text];
  const escaped = words.sort((a, b) => b.length - a.length).map((word) => {
    const plain = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return /^\w/.test(word) ? `(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])` : plain; // no "ear" in "near"
  });
  const found = text.split(new RegExp(`(${escaped.join("|")})`, "giu"));
  return found.map((piece, at) => (at % 2 ? element("mark", {}, piece) : piece));
}
