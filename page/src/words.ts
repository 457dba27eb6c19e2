// What the page says, in English and in Chinese.  A text of one language that the other lacks does not compile.

const EN = {
  question: "Ask this memory something …",
  ask: "Ask",
  graph: "Whose memory",
  reach: "How far activation spreads: more rounds reach farther concepts, and rank turns by them",
  rounds: "{n} round|{n} rounds",
  size: "How many concepts are drawn",
  concepts: "{n} concepts",
  fit: "Fit",
  fitTitle: "See all of it (0)",
  language: "中文",
  languageTitle: "Switch to Chinese (L)",
  dark: "Dark", light: "Light",
  shadeTitle: "Light or dark (D)",
  helpTitle: "Keys (?)",
  png: "Save this picture as PNG (P)",
  svg: "Save this picture as SVG (S)",
  play: "Watch it grow (space)",
  stop: "Stop (space)",
  now: "Now",
  nowTitle: "Back to the present (N)",
  slider: "The memory as it was at a time",
  close: "Close (Esc)",
  canvas: "The memory as a graph. Arrow keys go from concept to concept, Enter opens one.",
  nothing: "There is no memory yet. Let it remember something, then come back:",
  empty: "Nothing had been said yet.",
  noAnswer: "Nothing in this memory answers that.",
  answers: "What came back",
  woke: "{n} concept woke|{n} concepts woke",
  took: "recalled in {ms} ms",
  seeds: "Asked for",
  why: "Why this turn",
  path: "How activation came to it",
  together: "{n}× together",
  conversation: "The conversation",
  archived: "archived",
  longTerm: "long-term",
  pinned: "pinned",
  habit: "recurs",
  superseded: "history: no longer so",
  strength: "Strength now",
  mentions: "{n} mention|{n} mentions",
  since: "since {date}",
  last: "last {date}",
  neighbours: "Linked most strongly",
  evidence: "Where it was said",
  more: "More …",
  focus: "Only what is near",
  whole: "The whole memory",
  askAbout: "Ask about it",
  changes: "What changed",
  born: "born", stronger: "grew", weaker: "faded", forgotten: "left: archived or forgotten", long_term: "became long-term",
  themes: "Themes",
  themeBorn: "new", themeChanged: "changed", themeMerged: "merged", themeSplit: "split off", themeDied: "gone",
  turnsAdded: "{n} turn came|{n} turns came",
  turnsArchived: "{n} turn was archived|{n} turns were archived",
  none: "Nothing changed.",
  noTheme: "no theme yet",
  held: "{shown} of {total} concepts",
  key: "This memory asks for a key:",
  open: "Open",
  asOf: "as of {date}",
  keys: "Keys",
  manual: [
    ["/", "ask"], ["Esc", "close, go back"], ["← ↑ ↓ →", "go to the next concept there"], ["Enter", "open it"],
    ["F", "only what is near it, or all"], ["+ −", "zoom"], ["0", "see all"], ["[ ]", "back and forth in time"],
    ["N", "the present"], ["space", "watch it grow"], ["P S", "save PNG, SVG"], ["L", "中文"], ["D", "light, dark"],
  ] as [string, string][],
};

type Words = typeof EN;

const ZH: Words = {
  question: "向这份记忆提问……",
  ask: "提问",
  graph: "谁的记忆",
  reach: "激活传播多远：轮数越多，触及的概念越远，排序也随之而变",
  rounds: "{n} 轮",
  size: "画出多少个概念",
  concepts: "{n} 个概念",
  fit: "全貌",
  fitTitle: "看全貌（0）",
  language: "English",
  languageTitle: "切换到英文（L）",
  dark: "深色", light: "浅色",
  shadeTitle: "浅色或深色（D）",
  helpTitle: "按键（?）",
  png: "把这幅图存为 PNG（P）",
  svg: "把这幅图存为 SVG（S）",
  play: "看它生长（空格）",
  stop: "停止（空格）",
  now: "现在",
  nowTitle: "回到现在（N）",
  slider: "某一时刻的记忆",
  close: "关闭（Esc）",
  canvas: "以图呈现的记忆。方向键在概念之间移动，回车打开。",
  nothing: "还没有记忆。先让它记住些什么，再回来：",
  empty: "那时还什么都没说过。",
  noAnswer: "这份记忆里没有答案。",
  answers: "想起了什么",
  woke: "唤醒了 {n} 个概念",
  took: "用时 {ms} 毫秒",
  seeds: "问到的",
  why: "为什么是这句话",
  path: "激活如何到达",
  together: "同现 {n} 次",
  conversation: "整段对话",
  archived: "已归档",
  longTerm: "长期",
  pinned: "置顶",
  habit: "反复出现",
  superseded: "旧事：已不再如此",
  strength: "此刻的强度",
  mentions: "提到 {n} 次",
  since: "始于 {date}",
  last: "最近 {date}",
  neighbours: "联系最紧的",
  evidence: "说到它的话",
  more: "更多……",
  focus: "只看它附近",
  whole: "看整份记忆",
  askAbout: "就它提问",
  changes: "有什么变化",
  born: "新生", stronger: "增强", weaker: "减弱", forgotten: "离开：归档或遗忘", long_term: "成为长期",
  themes: "主题",
  themeBorn: "新", themeChanged: "有变", themeMerged: "并入", themeSplit: "分出", themeDied: "消失",
  turnsAdded: "新增 {n} 句话",
  turnsArchived: "归档 {n} 句话",
  none: "没有变化。",
  noTheme: "尚无主题",
  held: "{total} 个概念中的 {shown} 个",
  key: "这份记忆需要密钥：",
  open: "打开",
  asOf: "截至 {date}",
  keys: "按键",
  manual: [
    ["/", "提问"], ["Esc", "关闭，返回"], ["← ↑ ↓ →", "去那个方向的下一个概念"], ["Enter", "打开它"],
    ["F", "只看它附近，或看全部"], ["+ −", "缩放"], ["0", "看全貌"], ["[ ]", "在时间里前后移动"],
    ["N", "现在"], ["空格", "看它生长"], ["P S", "存为 PNG、SVG"], ["L", "English"], ["D", "浅色、深色"],
  ],
};

export type Language = "en" | "zh";
export type Name = { [name in keyof Words]: Words[name] extends string ? name : never }[keyof Words];

let language: Language = "en";

export const words = (): Words => (language === "en" ? EN : ZH);

export function speak(wanted: Language): void {
  language = wanted;
  document.documentElement.lang = wanted === "zh" ? "zh-Hans" : "en";
}

export const spoken = (): Language => language;

/** A text with its gaps filled; "one|many" is chosen by `n`. */
export function say(name: Name, gaps: Record<string, string | number> = {}): string {
  const forms = words()[name].split("|");
  const form = forms.length > 1 && gaps["n"] !== 1 ? forms[1]! : forms[0]!;
  return form.replace(/\{(\w+)\}/g, (_, gap: string) => String(gaps[gap] ?? ""));
}

const locale = () => (language === "zh" ? "zh-CN" : "en-GB");

export const date = (at: number) =>
  new Date(at).toLocaleDateString(locale(), { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });

export const number = (value: number) => value.toLocaleString(locale());
