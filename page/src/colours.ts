// Colours of themes, one list for each shade of the page: neighbours in a list are easy to tell apart.

const DARK = ["#7aa2ff", "#ffb86b", "#6ee7b7", "#f78fb3", "#c4a7ff", "#ffe08a", "#5fd4f4", "#ff8f80", "#a8e05f",
  "#e59bf2", "#9fc5e8", "#f2c6a0", "#4fd1b5", "#b9b9ff"];
const LIGHT = ["#3b5bdb", "#d9730d", "#0b8f63", "#c2255c", "#7048e8", "#a17c00", "#0b7f9f", "#d9480f", "#5c940d",
  "#9c36b5", "#4a6f94", "#a3663a", "#087f74", "#5f5fc4"];

export interface Shade {
  dark: boolean; back: string; ink: string; faint: string; plain: string; link: string; asleep: string;
  awake: string; born: string; grew: string; faded: string; gone: string; themes: string[];
}

export const SHADES: Record<"dark" | "light", Shade> = {
  dark: {
    dark: true, back: "#0a0d18", ink: "#eef1fb", faint: "#8e97b5", plain: "#68739a", link: "#8ea4d8", asleep: "#2a3148",
    awake: "#ffd166", born: "#5ef2a0", grew: "#5fd4f4", faded: "#b58cff", gone: "#ff7a6b", themes: DARK,
  },
  light: {
    dark: false, back: "#f8f7f3", ink: "#1c2233", faint: "#6b7284", plain: "#8a92a5", link: "#5d6b8f", asleep: "#d3d6de",
    awake: "#e08700", born: "#0b9f57", grew: "#0b7f9f", faded: "#7c4fd0", gone: "#d23c2a", themes: LIGHT,
  },
};

export function ofTheme(shade: Shade, theme: number): string {
  return theme < 0 ? shade.plain : shade.themes[theme % shade.themes.length]!;
}

/** A colour with an alpha of 0 to 1, as CSS and sigma read it. */
export function clear(colour: string, alpha: number): string {
  const [red, green, blue] = channels(colour);
  return `rgba(${red},${green},${blue},${alpha.toFixed(3)})`;
}

/** The same for sigma's links, whose shader takes colours that are multiplied with their alpha already. */
export function sheer(colour: string, alpha: number): string {
  const [red, green, blue] = channels(colour).map((value) => Math.round(value * alpha));
  return `rgba(${red},${green},${blue},${alpha.toFixed(3)})`;
}

/** Between two colours: `share` of the second. */
export function mixed(one: string, other: string, share: number): string {
  const [from, to] = [channels(one), channels(other)];
  return `#${from.map((value, at) => Math.round(value + (to[at]! - value) * share).toString(16).padStart(2, "0")).join("")}`;
}

function channels(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
