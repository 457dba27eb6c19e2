// Written by scripts/messages.ts from emgas/schema/asyncapi.json.

/**
 * What came with a turn: a photo, a voice note, a file.  It stays where it is; its caption is remembered.
 *
 * caption  what is on it, or said in it: remembered as if it had been said
 * sha256   of its bytes, hex, where somebody wants to know later that it is the same
 */
export interface Attachment {
  uri: string;
  mime: string;
  kind: "image" | "audio" | "video" | "file";
  caption: string;
  sha256: string;
}
/**
 * What may be changed about how a graph lives; what is not given keeps the preset's value.  Durations in ms.
 */
export interface Settings {
  /**
   * in which a fresh concept loses half its strength
   */
  half_life?: number | null;
  /**
   * percent of the half-life that every mention or recall after the first adds to a concept's own
   */
  stability?: number | null;
  /**
   * weaker than this, a concept is archived at the next decay window; 0: never
   */
  prune_below?: number | null;
  /**
   * a turn is archived at the next decay window when it was said so long ago, whatever words it holds; 0s: never
   */
  episode_life?: number | null;
  /**
   * what a reinforcing recall adds to a concept's strength
   */
  recall_boost?: number | null;
  /**
   * mentioned in so many consolidation windows, a concept becomes long-term; 0: never
   */
  long_windows?: number | null;
  /**
   * recalled so often, a concept becomes long-term; 0: never
   */
  long_recalls?: number | null;
  /**
   * time scale of long-term fading
   */
  long_tau?: number | null;
  /**
   * steepness of long-term fading
   */
  long_beta?: number | null;
  /**
   * length of decay windows
   */
  decay_every?: number | null;
  /**
   * length of the windows of consolidation
   */
  consolidate_every?: number | null;
  /**
   * silence after which a conversation is over, and is consolidated
   */
  idle?: number | null;
  /**
   * how long after its end a window waits for late turns
   */
  grace?: number | null;
  /**
   * new turns without which nothing is consolidated; a large graph waits for a tenth of all its turns, at most for five times as many
   */
  least_turns?: number | null;
  /**
   * share of words in common (Jaccard) from which two turns of a conversation say the same; from 1 on: never
   */
  duplicate_above?: number | null;
  /**
   * affinity from which two turns are near: what hangs together so is one habit
   */
  affinity_above?: number | null;
  /**
   * share of the words in affinity; the rest is how near in time two turns were said
   */
  affinity_gamma?: number | null;
  /**
   * time scale of affinity: days for projects, months for habits
   */
  affinity_tau?: number | null;
  /**
   * what gamma is multiplied by between turns that tell a time: less than 1, and what was said at one time belongs together sooner than what is alike
   */
  affinity_dated?: number | null;
  /**
   * time scale of affinity between turns that tell a time; 0s: as of others
   */
  affinity_tau_dated?: number | null;
  /**
   * turns that make a habit, at least; 0: none are looked for
   */
  habit_members?: number | null;
  /**
   * days on which they were said, at least
   */
  habit_days?: number | null;
  /**
   * a turn that a habit holds is archived at the next consolidation when it was said so long ago; 0s: never
   */
  archive_covered?: number | null;
  /**
   * more turns than so many that are active, and the oldest are archived at the next consolidation; 0: never
   */
  active_turns?: number | null;
  /**
   * share by which active turns may grow from one consolidation to the next; where they grow more, the next comes sooner and takes more together; 0: windows are as they are set
   */
  steady_growth?: number | null;
  /**
   * how many of the last events can be taken back; the store keeps as much as that needs
   */
  undo_events?: number | null;
  /**
   * 1: that a conversation ended by silence (`idle`) is recorded, with what it was about
   */
  end_sessions?: number | null;
  /**
   * turns after which a conversation ends, and goes on as another; 0: never
   */
  session_turns?: number | null;
  /**
   * a conversation ends where a turn has less than this share of its words in common with the last ones; 0: never
   */
  topic_shift?: number | null;
  /**
   * a link of less strength than this goes at the next decay window, and a word without any is archived; its strength is how often its words were together, and fades as theirs; 0: links do not fade
   */
  links_below?: number | null;
  /**
   * a link loses one of its strength in so long a silence, and goes with the last, instead of fading by the half-life; 0s: by the half-life
   */
  links_step?: number | null;
  /**
   * how much worse than the third best a turn may score and still be shown: e^−drop times as likely
   */
  drop?: number | null;
  /**
   * 0: what is said is not recorded, only that something was
   */
  recording?: number | null;
  /**
   * 0: questions bring back nothing, and are told why
   */
  recalling?: number | null;
  /**
   * a turn whose score of novelty is lower is redundant: it is recorded, and not counted; 0: all are counted
   */
  novelty_above?: number | null;
  /**
   * share of what is named for the first time in that score; the rest is how far the words are from those said lately
   */
  novelty_alpha?: number | null;
  /**
   * share of each turn in the moving average of the words said lately
   */
  novelty_beta?: number | null;
  /**
   * so far below `novelty_above`, a turn that names something for the first time is counted all the same
   */
  novelty_border?: number | null;
  /**
   * 1: what is named for the first time is a share of all words, not of what is named
   */
  novelty_literal?: number | null;
  /**
   * content words that make a turn worth remembering, unless it holds a name, a time, a statement or an anchor; else it is recorded, and not counted; 0: all turns are counted
   */
  worth_words?: number | null;
  /**
   * length in words of the windows in which words are counted as said together; 0: a turn, and the one before it
   */
  window_tokens?: number | null;
  /**
   * share of such a window that the one before it holds, too
   */
  window_overlap?: number | null;
  /**
   * 1: only words of one clause are counted as said together
   */
  clauses?: number | null;
  /**
   * length of the windows at whose end the graph dreams; 0s: never
   */
  dream_every?: number | null;
  /**
   * how long after the beginning of such a stretch the dream is: 3h of 1d
   */
  dream_at?: number | null;
  /**
   * random walks of a dream
   */
  dream_walks?: number | null;
  /**
   * steps of each of them
   */
  dream_steps?: number | null;
  /**
   * what a dream adds to the strength of a concept that it comes by
   */
  dream_boost?: number | null;
  /**
   * concepts recalled most frequently that a consolidation links with what is new; 0: none
   */
  frequent_linked?: number | null;
  /**
   * share of `recall_boost` that neighbours of a recalled concept get, too; 0: none
   */
  recall_spread?: number | null;
  /**
   * neighbours of a concept that do, at most: the nearest
   */
  recall_related?: number | null;
  /**
   * 1: of two turns that say the same, the one whose words tell more stays, not the longer one
   */
  keep_information?: number | null;
  /**
   * new turns that a consolidation compares, those that matter most first; 0: all
   */
  consolidate_batch?: number | null;
  /**
   * turns nearest to each new one that a consolidation tries to link with it; 0: none
   */
  link_candidates?: number | null;
  /**
   * how important a new turn must be to be linked like this; 0.5 by default
   */
  link_importance?: number | null;
  /**
   * share of the words (cosine) from which a turn may be linked with it
   */
  link_above?: number | null;
  /**
   * affinity from which it is
   */
  link_confidence?: number | null;
}
/**
 * How much a turn is worth remembering, and the words of it that matter.
 */
export interface JudgedTurn {
  turn: string;
  worth: number;
  /**
   * @maxItems 16
   */
  keywords?: string[];
}
/**
 * A name for a theme, by its id.
 */
export interface NamedTheme {
  theme: string;
  name: string;
}
/**
 * How closely two concepts belong together, by their ids: 0 not at all, 0.5 neither, 1 very.
 */
export interface RatedLink {
  source: string;
  target: string;
  rating: number;
}
/**
 * A turn, or what recurs (`habit`), in other words; role: in whose, "" nobody's.
 */
export interface Rewritten {
  turn?: string | null;
  habit?: string | null;
  text: string;
  role?: string;
}
/**
 * A turn says several things: the parts of its text, in their order.
 */
export interface SplitTurn {
  turn: string;
  /**
   * @minItems 2
   * @maxItems 64
   */
  parts: TextPart[];
}
/**
 * The characters of a turn's text, from `start` to before `end`, that say one thing.
 */
export interface TextPart {
  start: number;
  end: number;
}
/**
 * What a conversation that has ended was about: its topic in a word or two, and a summary.
 */
export interface SummedUp {
  session: string;
  topic?: string;
  summary: string;
}
/**
 * What a turn must be to come back; what is not given is not asked.  A name that the graph lacks matches nothing.
 *
 * sessions, speakers  it is of one of these, as they were written
 * roles               its role is one of these: a turn without a role passes none
 * since, until        it was said in since <= at < until (ms): what counts is not the time that it speaks of
 * min_importance      it matters at least as much; 0.5 counts where nobody said, and 1 where it is pinned
 * pinned              whether a user wants it kept in mind
 * concepts            it holds one of these, by id or as it was written
 * metadata            it has all of these entries, whatever they are
 * spoken_since, spoken_until  it speaks of a time in since <= time < until (ms): "last week", as it is resolved
 * exclude             turn ids that must not come back, such as those that are in the prompt already
 * modality            something of one of these kinds came with it
 * include_archive     whether turns that have faded may come back, behind others
 */
export interface Filter {
  /**
   * @maxItems 100
   */
  sessions?: string[];
  /**
   * @maxItems 100
   */
  speakers?: string[];
  /**
   * @maxItems 4
   */
  roles?: ("user" | "assistant" | "system" | "tool")[];
  min_importance?: number | null;
  pinned?: boolean | null;
  since?: number | string | null;
  until?: number | string | null;
  /**
   * @maxItems 100
   */
  concepts?: string[];
  metadata?: {
    [k: string]: string | number | boolean | null;
  };
  spoken_since?: number | string | null;
  spoken_until?: number | string | null;
  /**
   * @maxItems 1000
   */
  exclude?: string[];
  /**
   * @maxItems 4
   */
  modality?: ("image" | "audio" | "video" | "file")[];
  include_archive?: boolean;
}
/**
 * How to search, where the asker knows: what is not given changes nothing.
 *
 * depth          how thoroughly, 0 to 1: in the place of what the question itself tells.  It says how many passages
 *                come back, 3 to 20, and how far `staged` goes
 * by_complexity  take the complexity of the question for its depth, as SimpleMem estimates it
 * rounds         2: ask again with what the best passages of the first round hold
 * kinds          how much counts what was said in one place (episodic), and what belongs together at all (semantic)
 * type_weights   links by what turns say of two concepts, by its type, as {"cause": 0.5}
 * mood, role     words of who asks: what of them the graph knows is sought too, weakly; moods such as "in a hurry"
 *                and "curious" change the depth
 */
export interface Guidance {
  depth?: number | null;
  by_complexity?: boolean;
  rounds?: number;
  kinds?: {
    [k: string]: number;
  };
  type_weights?: {
    [k: string]: number;
  };
  mood?: string | null;
  role?: string | null;
}
/**
 * How activation spreads; what is not given takes the mode's own default (processors/recall/ranking/activation.py).
 *
 * window        what counts as said together: in a turn; in a turn or the one before it; in a round, which ends
 *               before somebody speaks again who has had their say in it; in a session
 * window_turns  in so many turns of a session, one after the other; in the place of `window`
 *
 * propagation_decay, max_iterations and delta are what each mode has of the kind: what a walk goes on with, how many
 * edges far, when it stops.
 */
export interface Spreading {
  firing_threshold?: number | null;
  propagation_decay?: number | null;
  max_iterations?: number | null;
  delta?: number | null;
  self_decay?: boolean | null;
  convergence?: number | null;
  recall_links?: number | null;
  topic_links?: number | null;
  window?: ("turn" | "exchange" | "round" | "session") | null;
  window_turns?: number | null;
  /**
   * links by what turns say of two concepts, by its type: none without, as {"cause": 0.5}
   */
  type_weights?: {
    [k: string]: number;
  } | null;
}
/**
 * What the answer had seen: `watermark` is the offset in `events`, `source` the offset in `turns`, -1 for none.
 */
export interface Position {
  partition: number;
  watermark: number;
  source: number;
}
/**
 * A concept that the query woke, and the strongest path by which its energy came (seed first, itself last).
 */
export interface ActivatedConcept {
  id: string;
  label: string;
  energy: number;
  path: string[];
}
/**
 * What guidance did to a question.
 *
 * words    concepts of mood and role that the graph knows: sought too, weakly
 * unknown  words of mood and role that it does not know: they did nothing
 * depth    how thoroughly it was searched, 0 to 1, and passages: how many that is
 * weights  what counted more or less than by itself, by name: edge types, kinds of turns, relations
 */
export interface Guided {
  words: string[];
  unknown: string[];
  depth: number | null;
  passages: number;
  weights: {
    [k: string]: number;
  };
}
/**
 * An association that energy took: how often both were said together, and the weight of the edge.
 */
export interface Hop {
  source: string;
  target: string;
  times: number;
  weight: number;
}
/**
 * How a question was answered: its mode, the mode's constants, and what each stage did.
 *
 * source      the system that the mode is of
 * constants   its constants by name, those that the question changed as it changed them
 * complexity  how complex the question is, 0 to 1, by its words alone (SimpleMem)
 * guidance    what guidance did, if there was any
 */
export interface How {
  mode: "default" | "literal" | "ppr" | "ppr-push" | "steady-state" | "subtractive" | "path" | "vector" | "staged";
  source: string;
  weighting: "fan" | "ppmi" | "npmi" | "count" | "max" | "out_degree";
  window: string;
  constants: {
    [k: string]: number;
  };
  complexity: number;
  stages: Stage[];
  guidance?: Guided | null;
}
/**
 * What one stage of a mode did.
 *
 * name      direct, spread, ppr, exhaustive; of other modes, their own; second-round, where a question asks for one
 * found     passages that it found
 * mass      share of their score that the best hold;  coverage: share of what is asked that the best hold, by rarity
 * enough    whether that was enough, so that no further stage was needed; null where nobody asked
 */
export interface Stage {
  name: string;
  found: number;
  mass?: number | null;
  coverage?: number | null;
  enough?: boolean | null;
}
/**
 * A word of the question that asks for a kind of thing, and the member of that kind that the passage holds.
 */
export interface Kind {
  asked: string;
  member: string;
}
/**
 * What turns say of two concepts: how many of them do, when they first and last did (ms), the latest by id.
 */
export interface KnownRelation {
  source: string;
  type: "is-a" | "part-of" | "cause" | "contrast" | "synonym" | "has" | "likes" | "dislikes" | "lives-in" | "works-at";
  target: string;
  source_label: string;
  target_label: string;
  times: number;
  first: number;
  last: number;
  ids: string[];
  /**
   * all turns that say it are history: it is otherwise now
   */
  history?: boolean;
}
/**
 * A seed that was said in the passage (distance 0), or so many turns before it (< 0) or after it (> 0).
 *
 * weight   what it counts as a seed: 1 for a word of the question
 * times    how often that turn says it
 */
export interface Mention {
  concept: string;
  weight: number;
  turn: string;
  distance: number;
  times: number;
}
/**
 * An old turn, and how well it answers; or what recurs, if the question asks for that.
 *
 * kind     "habit": `text` says what recurs, `speaker` whose it is, `at` when it last did
 * members  of a habit: ids of its latest turns
 */
export interface RecalledPassage {
  id: string;
  session: string;
  speaker: string;
  role: ("user" | "assistant" | "system" | "tool") | null;
  text: string;
  at: number;
  score: number;
  /**
   * it had faded, and comes from the archive
   */
  archived?: boolean;
  /**
   * a user wants it kept in mind
   */
  pinned?: boolean;
  kind?: "turn" | "habit";
  members?: string[];
  /**
   * it is history: the turn that says how things are since
   */
  superseded_by?: string | null;
  /**
   * how much it matters, 0 to 1, where that is known
   */
  importance?: number | null;
  /**
   * if the query asked for masks: the text as it is remembered, with placeholders for what has faded
   */
  masked?: string | null;
  attachments?: Attachment[];
  /**
   * in modes that find concepts first: the concept through which it was found
   */
  topic?: string | null;
  /**
   * if the query said `explain`
   */
  why?: Why | null;
}
/**
 * Why a passage has its score; its session, speaker and date stand in the passage itself.
 *
 * terms         what each edge type and each property of the turn adds (docs/recall.md): their sum is the score.  Of
 *               other modes, what their formula is made of; `times_…` are factors of the sum of the others
 * mentions      seeds in the passage, and in the turns around it that gave it score
 * associations  the hops to the strongest concept of the passage that the seeds woke, seed first
 * kinds         members of the kinds that the question asks for
 */
export interface Why {
  terms: {
    [k: string]: number;
  };
  mentions: Mention[];
  associations: Hop[];
  kinds: Kind[];
}
/**
 * Where the time went inside the owner, in milliseconds.
 */
export interface Timing {
  waited_ms: number;
  recall_ms: number;
}
/**
 * A theme of a graph: its label, its concepts' labels (strongest first), and since when it exists (ms).
 *
 * name, by  what an advisor calls it, and who
 */
export interface Theme {
  id: string;
  label: string;
  concepts: string[];
  born: number;
  name?: string | null;
  by?: string | null;
}
/**
 * What advisors said of a turn: other words, its parts, its worth; each with who said it.
 */
export interface Advised {
  rewritten: string | null;
  role: string;
  rewritten_by: string;
  parts: TextPart[];
  split_by: string;
  worth: number | null;
  keywords: string[];
  judged_by: string;
}
/**
 * A pronoun of a turn, the characters from `start` to `end`: the concept that it means, by id, and how surely.
 */
export interface BoundPronoun {
  start: number;
  end: number;
  concept: string;
  confidence: number;
}
/**
 * A turn as it was said.  `at`: ms; without a time of its own, when it was recorded.
 */
export interface RecordedTurn {
  id: string;
  session: string;
  speaker: string;
  role: ("user" | "assistant" | "system" | "tool") | null;
  text: string;
  at: number;
  metadata: {
    [k: string]: string | number | boolean | null;
  };
  /**
   * it has faded, and can still be found
   */
  archived: boolean;
  /**
   * a user wants it kept in mind
   */
  pinned?: boolean;
  /**
   * how much it matters, 0 to 1, where that is known
   */
  importance?: number | null;
  /**
   * the rule that says that it matters: remember, health, code, birthday, promise, meeting
   */
  anchor?: string | null;
  /**
   * what it says of time
   */
  times?: SpokenTime[];
  /**
   * whom its pronouns mean
   */
  mentions?: BoundPronoun[];
  /**
   * how much of it was new, 0 to 1, in a graph that asks for that
   */
  novelty?: number | null;
  /**
   * why it is in the log and in no count: no question finds it
   */
  uncounted?: "" | "redundant" | "unworthy";
  /**
   * what advisors said of it, if that was asked for
   */
  advised?: Advised | null;
}
/**
 * What an expression of time in a turn means (docs/time.md), by the sender's clock: from `since` to `until`, ms.
 *
 * kind   "" days, time (of day), duration, set (what repeats), vague
 * value  of a duration ISO 8601, of a set an RRULE, else ""       confidence  that it is meant, up to 1
 */
export interface SpokenTime {
  text: string;
  since: number;
  until: number;
  kind: "" | "time" | "duration" | "set" | "vague";
  value: string;
  confidence: number;
}
/**
 * How many turns of the graph were said when: (k,) counts, of equal parts of the time from first to last (ms).
 */
export interface Activity {
  first: number;
  last: number;
  turns: number[];
}
/**
 * Columns over n concepts, the strongest first; of a picture that grew, the nearest first.
 *
 * strengths  at the graph's clock                themes    positions in `themes` of the picture, -1 for none
 * mentions   turns that held each                hops      from the nearest of `around`; 0 in a picture of all
 * born       ms, of the first mention            touched   ms, of the last mention or recall
 */
export interface PicturedConcepts {
  ids: string[];
  labels: string[];
  strengths: number[];
  mentions: number[];
  themes: number[];
  hops: number[];
  born: number[];
  touched: number[];
  long_term: boolean[];
  archived: boolean[];
  pinned: boolean[];
}
/**
 * Columns over links between two concepts of the picture: the 4 strongest of each concept first, then the others.
 *
 * sources, targets  positions in its concepts       times    exchanges in which both were said
 * weights           what activation spreads by
 */
export interface PicturedLinks {
  sources: number[];
  targets: number[];
  weights: number[];
  times: number[];
}
/**
 * Columns over turns that hold concepts of the picture, the newest first; and which concept stands in which.
 *
 * held_by, holds  positions: in these turns, and in the picture's concepts
 */
export interface PicturedPassages {
  ids: string[];
  sessions: string[];
  speakers: string[];
  at: number[];
  archived: boolean[];
  held_by: number[];
  holds: number[];
}
/**
 * A theme that has concepts in the picture.  `born`: ms.
 */
export interface PicturedTheme {
  id: string;
  label: string;
  born: number;
}
/**
 * A concept, and its strength at the two times; 0 where it was not in the graph.
 */
export interface ChangedConcept {
  id: string;
  label: string;
  before: number;
  after: number;
}
/**
 * What became of a theme.
 *
 * other         where most of its concepts came from (split) or went (merged)
 * joined, left  labels of concepts, the strongest first; all that a new one has, all that one that is gone had
 */
export interface ChangedTheme {
  id: string;
  label: string;
  change: "born" | "changed" | "merged" | "split" | "died";
  other: string | null;
  joined: string[];
  left: string[];
}
/**
 * Two concepts, by label, and in how many exchanges both were, at the two times.
 */
export interface GrownPair {
  one: string;
  other: string;
  before: number;
  after: number;
}
/**
 * How a conversation ended, at `at` (ms).  summary: what it was about, made of `turns` (ids), and `by` whom.
 *
 * topic  what it was about in a word or two, where its author says it
 */
export interface Ending {
  at: number;
  reason: "said" | "idle" | "size" | "topic shift";
  summary: string;
  turns: string[];
  by: string;
  topic?: string;
}
/**
 * A sentence of a turn, word for word.
 */
export interface Quote {
  turn: string;
  speaker: string;
  at: number;
  text: string;
}
/**
 * One conversation.
 *
 * since, until  ms, of its first and its last turn         archived  turns of it that have faded
 * concepts      what sets it apart from others, labels     summary   its most telling sentences, in order
 * state         whether it goes on                         ended     how it, or one before under its name, ended
 */
export interface SessionRecap {
  session: string;
  since: number;
  until: number;
  turns: number;
  archived: number;
  speakers: string[];
  concepts: string[];
  summary: Quote[];
  state: "working" | "idle" | "ended";
  ended?: Ending | null;
  /**
   * if that was asked for
   */
  topics?: SessionTopic[];
}
/**
 * A part of a conversation: its topic in a few words, from its first to its last turn (ids), and its summary.
 */
export interface SessionTopic {
  topic: string;
  first: string;
  last: string;
  turns: number;
  summary: Quote[];
}
/**
 * A time, from `since` to `until` (ms), how many turns lie in it, and of how many moods they tell, if asked.
 */
export interface Span {
  since: number;
  until: number;
  turns: number;
  moods?: {
    [k: string]: number;
  };
}
/**
 * What a concept is related to over `hops` steps; `confidence` is 1 / hops, `path` the concepts on the way.
 */
export interface Inferred {
  id: string;
  label: string;
  hops: number;
  confidence: number;
  path: string[];
}
/**
 * What a concept is to a memory.  `strength`: what is left of it at the graph's time; times in ms.
 */
export interface KnownConcept {
  id: string;
  label: string;
  forms: {
    [k: string]: number;
  };
  created: number;
  accessed: number;
  strength: number;
  turns: number;
  recalls: number;
  long_term: boolean;
  archived: boolean;
  pinned: boolean;
  theme: string | null;
  /**
   * what it is: person, place, organisation …
   */
  of: string | null;
  /**
   * of a turn that people keep unasked: it fades slower
   */
  anchored?: boolean;
}
/**
 * A concept that is linked: `times` said together with the one before it, `confidence` 1 / hops.
 *
 * first, last  ms, when turns that are here said both, in one turn or one behind the other; None: none of them does
 */
export interface Neighbour {
  id: string;
  label: string;
  strength: number;
  times: number;
  hops: number;
  confidence: number;
  path: string[];
  first?: number | null;
  last?: number | null;
}
/**
 * When something that recurs did not: from `since` to `until` (ms).  `turn`: which says so, where one does.
 */
export interface Exemption {
  since: number;
  until: number;
  turn: string | null;
}
/**
 * What recurs, an abstract of the turns that are its members.
 *
 * text         what is said of it            by          who wrote that
 * concepts     what all of it is about       period      days from one day of it to the next, in the middle
 * turns, days  how many, on how many days    members     ids of the latest of them
 * hours        (24,) turns by hour of day    weekdays    (7,) turns by day of the week, Monday first
 *              by the clock of who said them
 * exceptions   the latest times at which it did not recur, as far as that is an exception
 * rewritten    other words for it by an advisor, and who
 */
export interface Habit {
  id: string;
  speaker: string;
  text: string;
  concepts: string[];
  turns: number;
  days: number;
  first: number;
  last: number;
  period: number;
  hours: number[];
  weekdays: number[];
  exceptions: Exemption[];
  members: string[];
  by: string;
  rewritten?: string | null;
  rewritten_by?: string | null;
}
/**
 * Habits that are near one another: a level of the tree.  `above`: their affinity; `habits`: ids.
 */
export interface HabitGroup {
  above: number;
  habits: string[];
}
/**
 * What the conversation before was about: recorded when it ended, or else read from it now, by `by`.
 */
export interface Inherited {
  session: string;
  at: number;
  summary: string;
  turns: string[];
  by: string;
  recorded: boolean;
}
/**
 * One utterance of a conversation.  `id` names it for ever: the same id again has no second effect.
 *
 * Of `metadata`, one entry means something: `timezone`, as Europe/Berlin, says where "yesterday" was said (else it was
 * where the graph's people are, by `Configure.timezone`, else UTC).
 */
export interface Turn {
  id: string;
  /**
   * whose memory: a user, an agent, a room; also the record's key
   */
  graph: string;
  speaker: string;
  text: string;
  session?: string;
  role?: ("user" | "assistant" | "system" | "tool") | null;
  /**
   * event time; without it, the broker's timestamp counts
   */
  at?: number | string | null;
  metadata?: {
    [k: string]: string | number | boolean | null;
  };
  /**
   * how much it matters, 0.5 as much as any other; without it, rules decide whether it matters more
   */
  importance?: number | null;
  /**
   * photos, voice notes, files that came with it
   *
   * @maxItems 16
   */
  attachments?: Attachment[];
}
/**
 * How a graph is to live from here on: a preset, and what differs from it.
 */
export interface Configure {
  kind: "configure";
  id: string;
  graph: string;
  preset?:
    | "default"
    | "forgetful"
    | "elephant"
    | "memorybank"
    | "mofox"
    | "emgas"
    | "soulmem"
    | "simplemem"
    | "hello-agents"
    | "maibot";
  settings?: Settings;
  /**
   * what features of a turn are worth in recall, where not the default; {}: the defaults; else as is
   */
  weights?: {
    [k: string]: number;
  } | null;
  /**
   * mode of questions that name none; else as is, or the preset's where that is another
   */
  mode?:
    ("default" | "literal" | "ppr" | "ppr-push" | "steady-state" | "subtractive" | "path" | "vector" | "staged") | null;
  /**
   * formula of this system by which they are ordered; else as `mode`
   */
  rerank?: ("hello-agents" | "simplemem" | "mofox") | "none" | null;
  /**
   * where its people are, as Europe/Berlin: of turns and questions that do not say; else as is
   */
  timezone?: string | null;
}
/**
 * What a graph is to forget: concepts by id or surface form, turns and sessions by id.  Replay keeps the past.
 *
 * everything  all that it holds: its name, its settings and the ids of its turns stay known
 */
export interface Forget {
  kind: "forget";
  id: string;
  graph: string;
  /**
   * @maxItems 100
   */
  concepts?: string[];
  /**
   * @maxItems 100
   */
  turns?: string[];
  /**
   * @maxItems 100
   */
  sessions?: string[];
  everything?: boolean;
}
/**
 * What a graph is to keep in mind, whatever fades: never archived until it is unpinned.
 */
export interface Pin {
  id: string;
  graph: string;
  /**
   * @maxItems 100
   */
  concepts?: string[];
  /**
   * @maxItems 100
   */
  turns?: string[];
  kind: "pin";
}
/**
 * What may fade again as everything does.
 */
export interface Unpin {
  id: string;
  graph: string;
  /**
   * @maxItems 100
   */
  concepts?: string[];
  /**
   * @maxItems 100
   */
  turns?: string[];
  kind: "unpin";
}
/**
 * What somebody thinks of turns that came back: right, wrong, or something between.
 *
 * query  the question that they came back for: what it asks for is linked with what they say, if they were right
 * value  from −1, wrong, to 1, right
 */
export interface Feedback {
  kind: "feedback";
  id: string;
  graph: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  turns: string[];
  query?: string | null;
  value: number;
}
/**
 * Take back a graph's events `first`..`last` (None: to the newest), counted from 0.  Itself one of its events.
 */
export interface Undo {
  kind: "undo";
  id: string;
  graph: string;
  first: number;
  last?: number | null;
}
/**
 * Erase content of an encrypted graph for ever: its keys are destroyed.  Exactly one of the three is given.
 *
 * turn: the turn of that id.  speaker: every turn that this speaker said.  whole: all of the graph.
 */
export interface Erase {
  kind: "erase";
  id: string;
  graph: string;
  turn?: string | null;
  speaker?: string | null;
  whole?: boolean;
}
/**
 * A conversation is over: it is summed up and consolidated, and the next one inherits what it was about.
 *
 * What is said in the session from then on is another conversation under the same name.
 */
export interface EndSession {
  kind: "endsession";
  id: string;
  graph: string;
  session?: string;
}
/**
 * Somebody may do this in a graph from here on; a graph that grants anything is closed to all other subjects.
 */
export interface Grant {
  id: string;
  graph: string;
  subject: string;
  /**
   * @minItems 1
   * @maxItems 4
   */
  rights: ("read" | "write" | "forget" | "admin")[];
  kind: "grant";
}
/**
 * Somebody may no longer do this in a graph.
 */
export interface Revoke {
  id: string;
  graph: string;
  subject: string;
  /**
   * @minItems 1
   * @maxItems 4
   */
  rights: ("read" | "write" | "forget" | "admin")[];
  kind: "revoke";
}
/**
 * What a question that asked to reinforce woke, told by the reader that answered it: it writes no events.
 *
 * concepts  ids of what it woke, strongest first     turns  ids of what it brought back from the archive
 * at        when it was asked, ms
 */
export interface Reinforce {
  kind: "reinforce";
  id: string;
  graph: string;
  /**
   * @maxItems 100
   */
  concepts: string[];
  /**
   * @maxItems 100
   */
  turns?: string[];
  at: number | string;
}
/**
 * What an advisor says; `by`: who, with its version.  Exactly one of the others is given.
 */
export interface Advice {
  kind: "advice";
  id: string;
  graph: string;
  by: string;
  named?: NamedTheme | null;
  /**
   * @maxItems 64
   */
  rated?: RatedLink[];
  summary?: SummedUp | null;
  rewritten?: Rewritten | null;
  split?: SplitTurn | null;
  judged?: JudgedTurn | null;
}
/**
 * A question to one graph.  It never changes state; `reinforce` asks for an event that does.
 *
 * Without `top_passages`, as many passages come back as the question needs, 3 to 20; `budget`,
 * `context_passages` and how much worse the next turn answers decide how many the context has.
 */
export interface Query {
  kind: "query";
  graph: string;
  text: string;
  /**
   * which retriever answers; else the graph's own, default where it has none
   */
  mode?:
    ("default" | "literal" | "ppr" | "ppr-push" | "steady-state" | "subtractive" | "path" | "vector" | "staged") | null;
  spreading?: Spreading;
  /**
   * weight of a link between concepts, in the place of the mode's own
   */
  weighting?: ("fan" | "ppmi" | "npmi" | "count" | "max" | "out_degree") | null;
  /**
   * order the best anew, twice as many as are wanted, by the formula of this system
   */
  rerank?: ("hello-agents" | "simplemem" | "mofox") | null;
  guidance?: Guidance;
  top_concepts?: number;
  top_passages?: number | null;
  /**
   * tokens of assembled context, at most
   */
  budget?: number;
  /**
   * turns in it, at most
   */
  context_passages?: number | null;
  /**
   * how busy who reads the answer is: it has 9 items at most at 0, 7 at 0.5, 5 at 1
   */
  load?: number | null;
  /**
   * speaker who asks: whom `my` and `I` mean
   */
  asker?: string | null;
  /**
   * of which kind: working, what is in mind of `session`; episodic, where what lies long ago and what matters little counts less; semantic, what is known of what is asked: relations, and turns whenever they were said; perceptual, turns that something came with
   */
  memory?: "all" | "working" | "episodic" | "semantic" | "perceptual";
  /**
   * perceptual: a turn; what comes back is like what came with it
   */
  like?: string | null;
  /**
   * masked: what has faded is left out of the context, as somebody would remember it
   */
  render?: "plain" | "masked";
  /**
   * masked: strength from which a word is shown as it was said
   */
  clear_from?: number;
  /**
   * masked: strength from which a placeholder says what kind of thing it was
   */
  hint_from?: number;
  /**
   * conversation in which it is asked: what `and then?` goes on from; else the latest one
   */
  session?: string | null;
  /**
   * answer once the turn at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * answer as of this time
   */
  as_of?: number | string | null;
  /**
   * where it is asked, as Europe/Berlin: what `yesterday` means, and by which clock the context tells; else the graph's own, UTC where it has none
   */
  timezone?: string | null;
  only?: Filter;
  /**
   * say why each passage came
   */
  explain?: boolean;
  reinforce?: boolean;
  /**
   * what comes back where nothing is found: nothing, or the latest turns that the filter lets through
   */
  fallback?: "none" | "recent";
}
/**
 * A question about a graph itself: its themes, its settings, how much it holds.
 */
export interface Describe {
  kind: "describe";
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * measure how it hangs together too
   */
  measures?: boolean;
}
/**
 * A question for turns as they were said, in the order in which they were recorded.  What is not given passes.
 *
 * ids      these alone, in this order; whichever the graph lacks is left out, and what is too much for one answer
 * session  only of this session     concept  only those that hold it, by id or as it was written
 * newest   the last one first       cursor   `next` of the page before
 * advised  with what advisors said of them
 */
export interface Read {
  kind: "read";
  graph: string;
  /**
   * @maxItems 100
   */
  ids?: string[];
  session?: string | null;
  concept?: string | null;
  newest?: boolean;
  cursor?: number | null;
  limit?: number;
  advised?: boolean;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question for what a graph looks like: its strongest concepts, or those near some, and how they are linked.
 *
 * around    concepts, by id or as they were written, from which the picture grows; the whole graph where none is named
 * hops      links between them and what is farthest away
 * nodes, links, passages  at most so many
 */
export interface Picture {
  kind: "picture";
  graph: string;
  /**
   * @maxItems 100
   */
  around?: string[];
  hops?: number;
  nodes?: number;
  links?: number;
  passages?: number;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question for what changed in a graph from `since` to `until`; without `until`, to what it is now.
 */
export interface Compare {
  kind: "compare";
  graph: string;
  since: number | string;
  until?: number | string | null;
  /**
   * of each kind, at most so many are named
   */
  limit?: number;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
}
/**
 * A question about conversations: these sessions, or without a name the last ones, the latest first.
 *
 * words   of each one's summary, at most
 * topics  into how many parts, each about something, it falls, and what was said of each
 */
export interface Recap {
  kind: "recap";
  graph: string;
  /**
   * @maxItems 20
   */
  sessions?: string[];
  limit?: number;
  /**
   * of the last ones, to pass over
   */
  skip?: number;
  words?: number;
  topics?: boolean;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question how often something is spoken of: since when, when last, at which hours, and when not.
 *
 * text    a question, or words: what counts is a turn that holds all of what they name, or some of it if none does;
 *         without it, every turn that `only` lets through: of a session, of a speaker
 * offset  of the asker's clock from UTC, minutes: where a day begins
 */
export interface Trend {
  kind: "trend";
  graph: string;
  text?: string | null;
  by?: "day" | "week" | "month";
  offset?: number;
  only?: Filter;
  /**
   * also the moods that turns tell of who said them; a question for nothing else is of all turns
   */
  moods?: boolean;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question about one concept: what it is to this memory, what it is linked with, and how it leads to another.
 */
export interface Explore {
  kind: "explore";
  graph: string;
  /**
   * by id, or as it was written
   */
  concept: string;
  /**
   * another one: by which ways does the first lead to it?
   */
  to?: string | null;
  /**
   * links at most from the concept to what is told
   */
  hops?: number;
  /**
   * what follows about it by this relation?
   */
  relation?:
    | ("is-a" | "part-of" | "cause" | "contrast" | "synonym" | "has" | "likes" | "dislikes" | "lives-in" | "works-at")
    | null;
  limit?: number;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question for what recurs: habits that a text asks for, or all of them, those with most turns first.
 *
 * speaker  whose
 */
export interface Habits {
  kind: "habits";
  graph: string;
  text?: string | null;
  speaker?: string | null;
  limit?: number;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question for what is in mind of a conversation, the latest one without a name: its last turns, and keywords.
 */
export interface Recent {
  kind: "recent";
  graph: string;
  session?: string | null;
  limit?: number;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was at this time
   */
  as_of?: number | string | null;
}
/**
 * A question to the owner of a partition: which graphs are there?
 *
 * The answer names those that its subject may read.  A gateway writes `patterns`: the graphs that the key opens.
 */
export interface List {
  kind: "list";
  /**
   * the names after this one, in their order
   */
  after?: string | null;
  limit?: number;
  /**
   * only graphs that one of these fits: a name, or a prefix and *
   */
  patterns?: string[] | null;
}
/**
 * A question to the owner of a partition: what do you hold, and what is its digest?
 */
export interface Inspect {
  kind: "inspect";
  /**
   * compute the digest too (reads every graph of the partition)
   */
  digest?: boolean;
  /**
   * tell the digests of the next graphs after this name, by name
   */
  graphs_after?: string | null;
}
/**
 * A request to the owner of a partition: write a snapshot of what you hold to where you keep snapshots.
 */
export interface Checkpoint {
  kind: "checkpoint";
}
/**
 * What became of a turn.  `duplicate`: its id was known with the same text, so nothing changed.
 */
export interface Outcome {
  kind: "outcome";
  status: "accepted" | "duplicate" | "rejected";
  turn: string | null;
  reason: string | null;
  position: Position;
}
/**
 * The answer to a query.  An unknown graph gives `found: false` and empty lists.
 */
export interface Reply {
  kind: "reply";
  graph: string;
  found: boolean;
  seeds: ActivatedConcept[];
  concepts: ActivatedConcept[];
  passages: RecalledPassage[];
  context: string;
  tokens: number;
  position: Position;
  timing: Timing;
  /**
   * false: nothing in the graph answers; what is listed, if anything, is the newest
   */
  matched?: boolean;
  /**
   * recalling is paused
   */
  paused?: boolean;
  /**
   * of the semantic memory: what turns say of the concepts asked for
   */
  relations?: KnownRelation[];
  /**
   * by whose clock the context tells times
   */
  timezone?: string;
  /**
   * if the query said `explain`, or guided the search
   */
  how?: How | null;
}
/**
 * What a graph holds.  An unknown graph gives `found: false`.
 *
 * turns, concepts      those that are active
 * archived, archived_concepts  turns and concepts that have faded, and can still be found
 * forgotten            turns that are gone for good
 * pinned, pinned_concepts      turns and concepts that a user wants kept in mind
 */
export interface Description {
  kind: "description";
  graph: string;
  found: boolean;
  preset: string;
  settings: {
    [k: string]: number;
  };
  /**
   * of its questions that name none
   */
  mode?: "default" | "literal" | "ppr" | "ppr-push" | "steady-state" | "subtractive" | "path" | "vector" | "staged";
  /**
   * of its questions that name no mode
   */
  rerank?: ("hello-agents" | "simplemem" | "mofox") | null;
  /**
   * what features of a turn are worth in recall, where not the default
   */
  weights?: {
    [k: string]: number;
  };
  /**
   * of turns and questions that do not say where they were said
   */
  timezone?: string;
  clock: number;
  turns: number;
  archived: number;
  forgotten: number;
  concepts: number;
  archived_concepts: number;
  pinned: number;
  pinned_concepts: number;
  long_term: number;
  themes: Theme[];
  /**
   * turns that came while recording was paused
   */
  unrecorded?: number;
  /**
   * turns that gates left out of what is counted: they are in the log alone
   */
  uncounted?: number;
  /**
   * who may do what, by subject; empty: nobody is kept out
   */
  access?: {
    [k: string]: string[];
  };
  /**
   * if asked for: size of each tier, growth, path length, how much abstracts cover, what is left of what was said
   */
  measures?: {
    [k: string]: number;
  };
  position: Position;
}
/**
 * A page of turns.  An unknown graph gives `found: false`.
 *
 * total  how many there are of what was asked for    next  `cursor` of the next page, None on the last
 */
export interface Turns {
  kind: "turns";
  graph: string;
  found: boolean;
  total: number;
  turns: RecordedTurn[];
  next: number | null;
  position: Position;
}
/**
 * What a graph looks like.  An unknown graph gives `found: false`.
 *
 * clock  the graph's time, ms: `as_of`, or the last that was said
 * total  concepts of the whole graph, in the picture or not
 */
export interface Pictured {
  kind: "pictured";
  graph: string;
  found: boolean;
  clock: number;
  total: number;
  concepts: PicturedConcepts;
  links: PicturedLinks;
  passages: PicturedPassages;
  themes: PicturedTheme[];
  activity: Activity;
  position: Position;
}
/**
 * What changed, what changed most first.  `found: false` where nothing had been said by the later time.
 *
 * since, until    the graph's clock at the two times, ms
 * turns           how many turns there had ever been, at the two times
 * totals          how many changes of each kind there are: more than are named where the limit was reached
 * forgotten       concepts that left what is active, and may still be in the archive
 * added, archived turns that came into what is active, and that left it, by id
 */
export interface Compared {
  kind: "compared";
  graph: string;
  found: boolean;
  since: number;
  until: number;
  turns: number[];
  totals: {
    [k: string]: number;
  };
  born: ChangedConcept[];
  stronger: ChangedConcept[];
  weaker: ChangedConcept[];
  forgotten: ChangedConcept[];
  long_term: ChangedConcept[];
  themes: ChangedTheme[];
  pairs: GrownPair[];
  added: string[];
  archived: string[];
  position: Position;
}
/**
 * Conversations, as asked for.  `total`: how many sessions there are.  An unknown graph gives `found: false`.
 */
export interface Recapped {
  kind: "recapped";
  graph: string;
  found: boolean;
  total: number;
  sessions: SessionRecap[];
  position: Position;
}
/**
 * How often something is spoken of.  An unknown graph gives `found: false`, and nothing that fits no turns.
 *
 * concepts  ids of what was counted       all        whether each turn holds all of them
 * turns     that hold it                  days       on which there was one
 * first, last  ms                         every      days from one such day to the next, in the middle; None: one day
 * periods   those with a turn             pauses     the longest between two such days, of more than twice `every`
 * hours     (24,) turns by hour of day    weekdays   (7,) turns by day of the week, Monday first
 * ids       of the latest such turns
 * moods     in how many turns their speaker tells of each, if asked; of the latest 500 turns
 */
export interface Trended {
  kind: "trended";
  graph: string;
  found: boolean;
  concepts: string[];
  all: boolean;
  turns: number;
  days: number;
  first: number | null;
  last: number | null;
  every: number | null;
  periods: Span[];
  pauses: Span[];
  hours: number[];
  weekdays: number[];
  ids: string[];
  moods?: {
    [k: string]: number;
  };
  position: Position;
}
/**
 * A concept and what is around it.  `found: false`: the graph is unknown, or knows no such concept.
 *
 * neighbours  the strongest links first      paths  ways to `to`, the strongest first, as ids
 * relations   what was said of it and another, most often said first
 * inferred    what follows by the relation that was asked for, nearest first, at most 10
 * ids         of the latest turns that hold the concept
 */
export interface Explored {
  kind: "explored";
  graph: string;
  found: boolean;
  concept: KnownConcept | null;
  neighbours: Neighbour[];
  paths: string[][];
  relations: KnownRelation[];
  inferred: Inferred[];
  ids: string[];
  position: Position;
}
/**
 * What recurs in a graph.  An unknown graph gives `found: false`.
 *
 * total   how many habits there are in all
 * groups  of these habits, from the closest to the widest; one that stands alone is in none
 */
export interface Recurring {
  kind: "recurring";
  graph: string;
  found: boolean;
  total: number;
  habits: Habit[];
  groups: HabitGroup[];
  position: Position;
}
/**
 * What is in mind of a conversation.  An unknown graph gives `found: false`.
 *
 * state      working: it goes on; idle: it fell silent; ended     turns      the last ones, in their order
 * total      turns that are in mind in all                        keywords   its last ones, the latest last
 * themes     what it touched, the latest first: labels            inherited  what the one before was about
 */
export interface InMind {
  kind: "inmind";
  graph: string;
  found: boolean;
  session: string;
  state: "working" | "idle" | "ended";
  ended: Ending | null;
  total: number;
  /**
   * @maxItems 50
   */
  turns: RecordedTurn[];
  keywords: string[];
  themes: string[];
  inherited: Inherited | null;
  /**
   * recalling is paused
   */
  paused?: boolean;
  position: Position;
}
/**
 * The names of graphs of a partition, ascending.  `next`: `after` of the next page, None on the last.
 *
 * `next` is the last name of its own page.  It never names a graph that the page does not show.
 */
export interface Graphs {
  kind: "graphs";
  graphs: string[];
  next: string | null;
  position: Position;
}
/**
 * What a partition's owner holds at `position`.
 *
 * turns        ids that were ever accepted, each once    concepts, pairs, topics   what is held, archived or not
 * forgotten    concepts and turns that are gone          archived                  turns that faded, and can be found
 * digests      by graph, in pages
 */
export interface Inspection {
  kind: "inspection";
  position: Position;
  digest: string | null;
  graphs: number;
  turns: number;
  concepts: number;
  pairs: number;
  topics: number;
  forgotten: number;
  archived: number;
  digests: {
    [k: string]: string;
  };
  /**
   * graphs that cannot be read, and why: a key is missing, or what is stored of them is damaged
   */
  unavailable?: {
    [k: string]: string;
  };
}
/**
 * A snapshot that was written: its name, where the state in it stands, and how large it is.
 */
export interface Checkpointed {
  kind: "checkpointed";
  snapshot: string;
  position: Position;
  bytes: number;
}
/**
 * A query that got no answer, and what to do about it.
 */
export interface Failure {
  kind: "failure";
  code: "invalid" | "wrong-partition" | "not-yet" | "expired" | "overloaded" | "forbidden" | "unavailable" | "internal";
  message: string;
}
/**
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Change".
 */
export interface Change {}

export type Command = Turn | Configure | Forget | Pin | Unpin | Feedback | Undo | Erase | EndSession | Grant | Revoke | Reinforce | Advice;
export type Question = Query | Describe | Read | Picture | Compare | Recap | Trend | Explore | Habits | Recent | Inspect | List | Checkpoint;
export type Answer = Reply | Description | Turns | Pictured | Compared | Recapped | Trended | Explored | Recurring | InMind | Graphs | Inspection | Checkpointed | Outcome | Failure;
