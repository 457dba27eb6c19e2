// Written by scripts/messages.ts from emgas/schema/asyncapi.json.

/**
 * A file that came with a turn: a photo, a voice note.  Only its address and its caption are stored.
 *
 * caption  what is on it, or said in it: remembered like a part of the turn's text
 * sha256   of its bytes, hex, to recognise the same file later
 */
export interface Attachment {
  uri: string;
  mime: string;
  kind: "image" | "audio" | "video" | "file";
  caption: string;
  sha256: string;
}
/**
 * How much a turn is worth remembering, and its important words.
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
 * How closely two concepts (ids) belong together: 0 not at all, 0.5 neither, 1 very.
 */
export interface RatedLink {
  source: string;
  target: string;
  rating: number;
}
/**
 * A turn, or a habit, in other words; role: whose words, "" for none.
 */
export interface Rewritten {
  turn?: string | null;
  habit?: string | null;
  text: string;
  role?: string;
}
/**
 * A turn with several statements: the parts of its text, in their order.
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
 * A part of a turn's text with one statement: its characters from `start` to before `end`.
 */
export interface TextPart {
  start: number;
  end: number;
}
/**
 * The topic, in a word or two, and the summary of a conversation that has ended.
 */
export interface SummedUp {
  session: string;
  topic?: string;
  summary: string;
}
/**
 * The settings of a graph; a setting that is not set has the preset's value.  Durations in ms.
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
   * a turn whose score of novelty is lower is redundant: it goes to the archive at once; 0: none does
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
   * so far below `novelty_above`, a turn that names something for the first time stays active all the same
   */
  novelty_border?: number | null;
  /**
   * 1: what is named for the first time is a share of all words, not of what is named
   */
  novelty_literal?: number | null;
  /**
   * content words that make a turn worth remembering, unless it holds a name, a time, a statement or an anchor; else it goes to the archive at once; 0: none does
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
 * What a turn must be to come back; what is not given is not asked.  A name that the graph lacks matches nothing.
 *
 * sessions, speakers  it is of one of these, as they were written
 * roles               its role is one of these: a turn without a role passes none
 * origins             its text comes from one of these; a turn without an origin has that of its role
 * without_origins     its text comes from none of these
 * since, until        it was said in since <= at < until (ms): what counts is not the time that it speaks of
 * min_importance      at least this importance; 0.5 if unknown, and 1 for pinned turns
 * pinned              whether a user pinned it
 * concepts            it holds one of these, by id or as it was written
 * entities            it names something of one of these kinds: a person, a place
 * statements          it states a fact of one of these slots or relations: home, job, lives-in
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
  /**
   * @maxItems 4
   */
  origins?: ("user" | "assistant" | "tool" | "web")[];
  /**
   * @maxItems 4
   */
  without_origins?: ("user" | "assistant" | "tool" | "web")[];
  min_importance?: number | null;
  pinned?: boolean | null;
  since?: number | string | null;
  until?: number | string | null;
  /**
   * @maxItems 100
   */
  concepts?: string[];
  /**
   * @maxItems 4
   */
  entities?: ("person" | "place" | "organisation" | "product")[];
  /**
   * @maxItems 100
   */
  statements?: string[];
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
 * Hints for the search, if the asker knows them; a hint that is not set changes nothing.
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
 *               before a speaker of it speaks again; in a session
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
 * A turn to read: who says what, when (by default now), in which language (by default the memory's).
 */
export interface TurnText {
  speaker?: string;
  text: string;
  /**
   * when it was said; now by default
   */
  at?: number | string | null;
  /**
   * of its times, ISO 639-1; by default the memory's, or Chinese
   */
  language?: string | null;
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
 * A concept that the query activated, and the strongest path to it (seed first, itself last).
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
 * weights  what counted more or less than usual, by name: edge types, kinds of turns, relations
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
  mode:
    | "default"
    | "inject"
    | "literal"
    | "ppr"
    | "ppr-push"
    | "steady-state"
    | "subtractive"
    | "path"
    | "vector"
    | "staged";
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
 * enough    whether that was enough, so that no further stage was needed; null if not requested
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
 * A relation of two concepts: how many turns state it, when first and last (ms), and the latest by id.
 */
export interface KnownRelation {
  source: string;
  type:
    | ("is-a" | "part-of" | "cause" | "contrast" | "synonym" | "has" | "likes" | "dislikes" | "lives-in" | "works-at")
    | (
        | "parent"
        | "child"
        | "sibling"
        | "spouse"
        | "partner"
        | "ex-spouse"
        | "ex-partner"
        | "friend"
        | "colleague"
        | "boss"
        | "report"
        | "roommate"
        | "neighbour"
        | "relative"
        | "teacher"
        | "student"
        | "coach"
        | "therapist"
        | "doctor"
        | "dentist"
        | "lawyer"
        | "landlord"
        | "tenant"
        | "client"
        | "schoolmate"
        | "agent"
        | "accountant"
        | "vet"
        | "hairdresser"
        | "physio"
        | "nanny"
        | "pet"
        | "job"
        | "from"
        | "born-in"
        | "age"
        | "birthday"
        | "name"
        | "studies"
        | "studies-at"
        | "studies-in"
        | "studied-at"
        | "member-of"
        | "owns"
        | "uses"
        | "allergic-to"
        | "visited"
        | "works-in"
      );
  target: string;
  source_label: string;
  target_label: string;
  times: number;
  first: number;
  last: number;
  ids: string[];
  /**
   * outdated: later turns replaced all that state it
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
 * An old turn, and how well it answers; or a habit, if the question asks for habits.
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
   * how likely it holds the answer, 0 to 1, in modes whose scores tell
   */
  likelihood?: number | null;
  /**
   * the context quotes it, whole or in part
   */
  in_context?: boolean;
  /**
   * it had faded, and was found in the archive
   */
  archived?: boolean;
  /**
   * a user pinned it
   */
  pinned?: boolean;
  kind?: "turn" | "habit";
  members?: string[];
  /**
   * it is outdated: the later turn that replaced it
   */
  superseded_by?: string | null;
  /**
   * how much it matters, 0 to 1, if known
   */
  importance?: number | null;
  /**
   * if the query is masked: the text with placeholders for faded words
   */
  masked?: string | null;
  attachments?: Attachment[];
  /**
   * where its text comes from, if known
   */
  origin?: ("user" | "assistant" | "tool" | "web") | null;
  /**
   * when it is forgotten, ms
   */
  expires_at?: number | null;
  /**
   * in modes that find concepts first: the concept that led to it
   */
  topic?: string | null;
  /**
   * if the query has `explain`
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
 * How long each part took inside the owner, in milliseconds.
 */
export interface Timing {
  waited_ms: number;
  recall_ms: number;
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
 * A theme of a graph: its label, its concepts' labels (strongest first), and when it began (ms).
 *
 * name, by  an advisor's name for it, and the advisor
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
 * What a memory knows of a concept.  `strength`: what is left of it at the graph's time; times in ms.
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
   * of an important turn: it fades more slowly
   */
  anchored?: boolean;
}
/**
 * A concept that is linked: `times` said together with the one before it, `confidence` 1 / hops.
 *
 * first, last  ms, of the turns with both, in one turn or in two consecutive ones; null: there is none
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
 * A value that a turn (its place in the request) replaces or ends: `new` is None if it ends.
 */
export interface ExtractedChange {
  subject: string;
  slot: string;
  old: string;
  new: string | null;
  turn: number;
}
/**
 * A node that the turn would have in the graph: its id, how it is written, its weight, and what it is, if known.
 */
export interface ExtractedConcept {
  id: string;
  label: string;
  weight: number;
  of: ("person" | "place" | "organisation" | "product" | "time" | "number" | "phrase" | "part" | "guess") | null;
}
/**
 * A name, the characters where it stands, and what it names.
 */
export interface ExtractedEntity {
  start: number;
  end: number;
  text: string;
  kind: "person" | "place" | "organisation" | "product";
}
/**
 * A pronoun, whom or what it means, where that was named last ([turn, start, end]), and how surely.
 */
export interface ExtractedMention {
  start: number;
  end: number;
  means: string | string[];
  at: number[] | null;
  confidence: number;
}
/**
 * A relation that a turn states, and the characters that state it.
 */
export interface ExtractedRelation {
  subject: string;
  relation: string;
  object: string;
  role: string | null;
  confidence: number;
  start: number;
  end: number;
}
/**
 * A time that a turn tells, the characters that tell it, and its meaning.
 *
 * span    [since, until), ISO 8601 by the clock of the speaker; null: open on that side
 * clock   [since, until), minutes of a day
 * length  seconds
 * set     a rule that repeats, an RRULE of RFC 5545
 */
export interface ExtractedTime {
  start: number;
  end: number;
  text: string;
  kind: "span" | "clock" | "length" | "set";
  since: string | number | null;
  until: string | number | null;
  seconds: number | null;
  rule: string | null;
  direction: string | null;
}
/**
 * What one turn is understood to say.
 */
export interface ExtractedTurn {
  language: string;
  question: boolean;
  concepts: ExtractedConcept[];
  entities: ExtractedEntity[];
  times: ExtractedTime[];
  mentions: ExtractedMention[];
  relations: ExtractedRelation[];
}
/**
 * An exception from a habit, from `since` to `until` (ms).  `turn`: the turn that mentions it, if there is one.
 */
export interface Exemption {
  since: number;
  until: number;
  turn: string | null;
}
/**
 * A habit: an abstract of the turns that are its members.
 *
 * text         what is said of it            by          who wrote that
 * concepts     what all of it is about       period      days from one day of it to the next, in the middle
 * turns, days  how many, on how many days    members     ids of the latest of them
 * hours        (24,) turns by hour of day    weekdays    (7,) turns by day of the week, Monday first
 *              by the clock of who said them
 * exceptions   the latest times at which it unexpectedly did not recur
 * rewritten    an advisor's words for it, and the advisor
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
 * Similar habits: a level of the tree.  `above`: their affinity; `habits`: ids.
 */
export interface HabitGroup {
  above: number;
  habits: string[];
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
 * Columns over links between two concepts of the picture: the strongest of each concept first, then the others.
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
 * Advice on a turn: other words, its parts, its worth; each with its advisor.
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
 * A pronoun of a turn, at the characters from `start` to `end`, and the concept (id) that it means.
 */
export interface BoundPronoun {
  start: number;
  end: number;
  concept: string;
  confidence: number;
}
/**
 * A turn as it was said.  `at`: its time in ms, by default when it was recorded.
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
   * it has faded, but can still be found
   */
  archived: boolean;
  /**
   * a user pinned it
   */
  pinned?: boolean;
  /**
   * how much it matters, 0 to 1, if known
   */
  importance?: number | null;
  /**
   * where its text comes from, if known
   */
  origin?: ("user" | "assistant" | "tool" | "web") | null;
  /**
   * when it is forgotten, ms
   */
  expires_at?: number | null;
  /**
   * the rule by which it matters: remember, health, code, birthday, promise, meeting
   */
  anchor?: string | null;
  /**
   * its time expressions
   */
  times?: SpokenTime[];
  /**
   * the meaning of its pronouns
   */
  mentions?: BoundPronoun[];
  /**
   * how much of it was new, 0 to 1, if the graph measures that
   */
  novelty?: number | null;
  /**
   * why a gate sent it to the archive as it came
   */
  uncounted?: "" | "redundant" | "unworthy";
  /**
   * the advice on it, if requested
   */
  advised?: Advised | null;
}
/**
 * The meaning of a time expression in a turn (docs/time.md), by the sender's clock: from `since` to `until`, ms.
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
 * What a person is to another: the other's sibling, parent, boss …; and the turn that says so.
 */
export interface KnownTie {
  relation: string;
  of: string;
  role?: string | null;
  turn: string;
}
/**
 * A value of a slot: since when it holds and until when (ms; null: not known, or still), and the turn that says so.
 *
 * confidence  in (0, 1]; 0.5 for what is only inferred, as a dog from "my dog"
 * role        what the value is to the person, as it was said: sister, 表哥, manager
 */
export interface KnownValue {
  value: string;
  since: number | null;
  until: number | null;
  turn: string;
  confidence: number;
  role?: string | null;
}
/**
 * The card of a person.
 *
 * also     what else they are called: "Ada's sister"
 * current  slot → the values that hold, the latest last        history  likewise, what held before
 * ties     what they are to others who have a name
 */
export interface Person {
  name: string;
  also: string[];
  current: {
    [k: string]: KnownValue[];
  };
  history: {
    [k: string]: KnownValue[];
  };
  ties: KnownTie[];
}
/**
 * A value that a turn replaced or ended: `new` is null where it ended.  `at`: when the turn was said, ms.
 */
export interface PersonChange {
  name: string;
  slot: string;
  old: string;
  new: string | null;
  turn: string;
  at: number;
}
/**
 * How a conversation ended, at `at` (ms).  summary: a summary of `turns` (ids), and `by` whom.
 *
 * topic  its topic in a word or two, if the author of the summary names it
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
 * concepts      labels that set it apart from others       summary   its most important sentences, in order
 * state         working, idle or ended                     ended     how it, or an earlier one of this name, ended
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
   * if requested
   */
  topics?: SessionTopic[];
}
/**
 * A part of a conversation: its topic in a few words, its first and last turn (ids), and its summary.
 */
export interface SessionTopic {
  topic: string;
  first: string;
  last: string;
  turns: number;
  summary: Quote[];
}
/**
 * The summary of the conversation before: recorded when it ended, or else computed now, by `by`.
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
 * A period, from `since` to `until` (ms), with its number of turns, and of moods if requested.
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
 * One utterance of a conversation.  Its `id` is permanent: sending the same id again has no effect.
 *
 * One entry of `metadata` has a meaning: `timezone`, as Europe/Berlin, decides what "yesterday" means (by default, the
 * graph's own zone, `Configure.timezone`, else UTC).
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
   * event time; by default the broker's timestamp
   */
  at?: number | string | null;
  metadata?: {
    [k: string]: string | number | boolean | null;
  };
  /**
   * how much it matters, 0.5 for a usual turn; without it, rules decide whether it matters more
   */
  importance?: number | null;
  /**
   * photos, voice notes and files that came with it
   *
   * @maxItems 16
   */
  attachments?: Attachment[];
  /**
   * where the text comes from; mode `inject` leaves out tool and web
   */
  origin?: ("user" | "assistant" | "tool" | "web") | null;
  /**
   * when it is forgotten, in the graph's time; without it, it is kept
   */
  expires_at?: number | string | null;
}
/**
 * An advisor's statement; `by`: who advises, with its version.  Set exactly one of the other fields.
 */
export interface Advice {
  id: string;
  graph: string;
  kind: "advice";
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
 * Configure a graph: a preset, and the settings that differ from it, replacing all earlier ones.
 */
export interface Configure {
  id: string;
  graph: string;
  kind: "configure";
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
   * weights of features of turns in recall, where not the default; {}: the defaults; null: unchanged
   */
  weights?: {
    [k: string]: number;
  } | null;
  /**
   * mode of questions without one; null: unchanged, or the new preset's if the preset changes
   */
  mode?:
    | (
        | "default"
        | "inject"
        | "literal"
        | "ppr"
        | "ppr-push"
        | "steady-state"
        | "subtractive"
        | "path"
        | "vector"
        | "staged"
      )
    | null;
  /**
   * the system whose formula orders their results; null: as for `mode`
   */
  rerank?: ("hello-agents" | "simplemem" | "mofox") | "none" | null;
  /**
   * time zone of turns and questions without one, as Europe/Berlin; null: unchanged
   */
  timezone?: string | null;
}
/**
 * End a conversation.  It is summarised and consolidated, and the next one starts with the summary.
 *
 * Later turns of the session are a new conversation under the same name.
 */
export interface EndSession {
  id: string;
  graph: string;
  kind: "endsession";
  session?: string;
}
/**
 * Permanently erase content of an encrypted graph by destroying its keys.  Set exactly one of the three fields.
 *
 * turn: the turn with this id.  speaker: every turn of this speaker.  whole: the whole graph.
 */
export interface Erase {
  id: string;
  graph: string;
  kind: "erase";
  turn?: string | null;
  speaker?: string | null;
  whole?: boolean;
}
/**
 * Rate turns that came back: right, wrong, or something between.
 */
export interface Feedback {
  id: string;
  graph: string;
  kind: "feedback";
  /**
   * @minItems 1
   * @maxItems 100
   */
  turns: string[];
  /**
   * the question that they answered: its concepts are linked with theirs, if they were right
   */
  query?: string | null;
  /**
   * from −1, wrong, to 1, right
   */
  value: number;
}
/**
 * Forget concepts with the turns that mention them, turns and sessions.
 *
 * Nothing finds them any more.  The log still holds them, so an undo can restore them.
 */
export interface Forget {
  id: string;
  graph: string;
  /**
   * words, with every turn that mentions them
   *
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
  /**
   * the whole graph, except its name, its settings and the ids of its turns
   */
  everything?: boolean;
  /**
   * forget the concepts as words, and keep the turns that mention them and something else
   */
  word_only?: boolean;
  kind: "forget";
  /**
   * refuse the request unless it forgets exactly so many turns, as a preview counted them
   */
  expected?: number | null;
}
/**
 * Grant a subject, such as a key's name, rights in a graph.  The first grant closes it to all others.
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
 * Move a graph away: from `begin` on it accepts nothing here, from `finish` on it answers nothing either.
 *
 * `cancel` lets it stay if it has not left yet.  A graph that names its origin here can come back.
 */
export interface Move {
  id: string;
  graph: string;
  kind: "move";
  /**
   * where the graph goes: what its users read
   */
  to: string;
  phase: "begin" | "finish" | "cancel";
  /**
   * of the graph's history, as its receiver knows it
   */
  origin?: string | null;
  /**
   * how many events of it arrived: with another number here, it does not leave
   */
  events?: number | null;
  /**
   * number of this move, one more than of the move before; another one is refused
   */
  hop?: number;
}
/**
 * Pin concepts and turns: they do not fade, and are not archived, until they are unpinned.
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
 * Limit what is sent to a graph from now on; without a limit, lift the quota.
 *
 * It counts turns that are recorded, from 0 whenever it is set.  Only an operator may set it, not a subject.
 */
export interface Quota {
  id: string;
  graph: string;
  kind: "quota";
  /**
   * whose turns count; by default, all of the graph's
   */
  subject?: string | null;
  /**
   * how many turns may be recorded
   */
  turns?: number | null;
  /**
   * how many bytes they may have, as sent
   */
  bytes?: number | null;
}
/**
 * Take over events of a graph that is not here, in their order; the last message has none, and checks the digest.
 *
 * Until then the graph accepts and answers nothing else.  Events that are here already are passed over.  A move has
 * the digest checked first (`opens` false), and opens the graph here once it has left the other memory.  A message of
 * a move (`hop`) is refused once a later move of the graph is known here.
 */
export interface Receive {
  id: string;
  graph: string;
  kind: "receive";
  /**
   * of the graph's history: what is received of another is refused
   */
  origin: string;
  /**
   * place of the first of these events among the graph's own, counted from 0
   */
  first: number;
  /**
   * how many events the graph will have
   */
  total: number;
  /**
   * of the graph, once all are here
   */
  digest: string;
  /**
   * whether they came from an encrypted graph: then only such a graph takes them
   */
  encrypted: boolean;
  /**
   * record values, JSON
   *
   * @maxItems 1000
   */
  events: string[];
  /**
   * of the last message: whether the graph lives here from then on, or is only checked
   */
  opens?: boolean;
  /**
   * number of the move that sends it; 0 for a copy
   */
  hop?: number;
}
/**
 * What a question with `reinforce` activated, reported by the reader that answered it: readers write no events.
 *
 * concepts  ids of the activated ones, strongest first     turns  ids of those found in the archive
 * at        when it was asked, ms
 */
export interface Reinforce {
  id: string;
  graph: string;
  kind: "reinforce";
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
 * Revoke rights of a subject in a graph.
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
 * Undo a graph's events `first`..`last` (null: up to the newest), counted from 0.  The undo is an event, too.
 */
export interface Undo {
  id: string;
  graph: string;
  kind: "undo";
  first: number;
  last?: number | null;
}
/**
 * Unpin concepts and turns, so that they fade again.
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
 * A question to one graph.  It never changes state; `reinforce` asks for an event that does.
 *
 * Without `top_passages`, as many passages come back as the question needs, 3 to 20; `budget`,
 * `context_passages` and how much worse the next turn answers decide how many the context has.
 */
export interface Query {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * answer as of this time
   */
  as_of?: number | string | null;
  kind: "query";
  text: string;
  /**
   * which retriever answers; by default the graph's own, else `default`
   */
  mode?:
    | (
        | "default"
        | "inject"
        | "literal"
        | "ppr"
        | "ppr-push"
        | "steady-state"
        | "subtractive"
        | "path"
        | "vector"
        | "staged"
      )
    | null;
  spreading?: Spreading;
  /**
   * weighting of links between concepts, instead of the mode's own
   */
  weighting?: ("fan" | "ppmi" | "npmi" | "count" | "max" | "out_degree") | null;
  /**
   * order twice as many as requested again, by the formula of this system
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
   * show fewer results: up to 9 at 0, 7 at 0.5, 5 at 1
   */
  load?: number | null;
  /**
   * the speaker who asks, whom `my` and `I` mean
   */
  asker?: string | null;
  /**
   * of which kind: working, what is in mind of `session`; episodic, where what lies long ago and what matters little counts less; semantic, what is known of what is asked: relations, and turns whenever they were said; perceptual, turns that something came with
   */
  memory?: "all" | "working" | "episodic" | "semantic" | "perceptual";
  /**
   * perceptual: a turn; find turns with similar attachments
   */
  like?: string | null;
  /**
   * masked: leave faded words out of the context, as a person would remember it
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
   * conversation that `and then?` continues; by default the latest one
   */
  session?: string | null;
  /**
   * the asker's, as Europe/Berlin: what `yesterday` means, and by which clock the context tells; else the graph's own, UTC where it has none
   */
  timezone?: string | null;
  only?: Filter;
  /**
   * explain why each passage was found
   */
  explain?: boolean;
  reinforce?: boolean;
  /**
   * what to return if nothing answers: nothing, the nearest turns, or the latest ones that pass the filter
   */
  fallback?: "none" | "nearest" | "recent";
  /**
   * return nothing if the graph holds an answer with a lower likelihood (`known`); 0: always return what is nearest; by default a low one, in mode `inject` a higher one
   */
  min_likelihood?: number | null;
}
/**
 * Ask the owner of a partition to write a snapshot to its folder of snapshots.
 */
export interface Checkpoint {
  kind: "checkpoint";
}
/**
 * Compare a graph at two times: which concepts are new, grew, faded or were archived.
 */
export interface Compare {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  kind: "compare";
  /**
   * a time, as `as_of`: 2023-05-08T14:00
   */
  since: number | string;
  /**
   * a later one; else now
   */
  until?: number | string | null;
  /**
   * changes of each kind, at most
   */
  limit?: number;
}
/**
 * Describe a graph: its themes, its settings, and how much it holds.
 */
export interface Describe {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  kind: "describe";
  /**
   * also measure how well it is connected
   */
  measures?: boolean;
}
/**
 * Return what the graph knows of a concept: its relations, and the concepts linked with it.
 */
export interface Explore {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "explore";
  /**
   * by id, or as written
   */
  concept: string;
  /**
   * another concept, to find the paths to it
   */
  to?: string | null;
  /**
   * links from the concept, at most; by default 1, and 3 steps of a relation
   */
  hops?: number | null;
  /**
   * infer what follows by this relation
   */
  relation?:
    | ("is-a" | "part-of" | "cause" | "contrast" | "synonym" | "has" | "likes" | "dislikes" | "lives-in" | "works-at")
    | null;
  limit?: number;
}
/**
 * Ask what the memory would understand of these turns, read as one session.  Nothing is stored.
 */
export interface Extract {
  kind: "extract";
  /**
   * @minItems 1
   * @maxItems 1000
   */
  turns: TurnText[];
}
/**
 * Return what recurs, how often, since when, and when not: the habits with the most turns first.
 */
export interface Habits {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "habits";
  /**
   * a question, or words; without it, all habits
   */
  text?: string | null;
  /**
   * whose
   */
  speaker?: string | null;
  /**
   * habits, at most
   */
  limit?: number;
}
/**
 * Ask the owner of a partition for counts of what it holds, and for its digest.
 */
export interface Inspect {
  kind: "inspect";
  /**
   * compute the digest too (reads every graph of the partition)
   */
  digest?: boolean;
  /**
   * return the digests of the next graphs after this name, by name
   */
  graphs_after?: string | null;
}
/**
 * Ask the owner of a partition for the names of its graphs.
 *
 * The answer has those that the subject may read.  A gateway sets `patterns` to the graphs of the key.
 */
export interface List {
  kind: "list";
  /**
   * the names after this one, in their order
   */
  after?: string | null;
  limit?: number;
  /**
   * only graphs that match one of these: a name, or a prefix and *
   */
  patterns?: string[] | null;
}
/**
 * Return the graph for a drawing: its concepts, links, turns and themes, as columns.
 */
export interface Picture {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "picture";
  /**
   * concepts, by id or as written, that it grows from; by default the strongest of the whole graph
   *
   * @maxItems 100
   */
  around?: string[];
  /**
   * links between those and the farthest concepts
   */
  hops?: number;
  /**
   * concepts, at most
   */
  nodes?: number;
  /**
   * links, at most
   */
  links?: number;
  /**
   * turns, at most
   */
  passages?: number;
}
/**
 * List what a request to forget would remove.  Nothing is removed.
 */
export interface PreviewForget {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * words, with every turn that mentions them
   *
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
  /**
   * the whole graph, except its name, its settings and the ids of its turns
   */
  everything?: boolean;
  /**
   * forget the concepts as words, and keep the turns that mention them and something else
   */
  word_only?: boolean;
  kind: "previewforget";
  /**
   * turns to show, at most
   */
  limit?: number;
}
/**
 * Return what a memory knows of a person: the values that hold, what held before, and the turns that say so.
 */
export interface Profile {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "profile";
  /**
   * a name, or a path as Ada's sister; without it, everybody
   */
  name?: string | null;
  /**
   * people, at most, those with the most values first
   */
  limit?: number;
}
/**
 * Read one page of turns, as they were said, in the order in which they were recorded.
 */
export interface Read {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "read";
  /**
   * only these, in this order; not those that the graph lacks, or that are too much for one answer
   *
   * @maxItems 1000
   */
  ids?: string[];
  /**
   * only of this session
   */
  session?: string | null;
  /**
   * only turns with this concept, by id or as written
   */
  concept?: string | null;
  /**
   * the latest first
   */
  newest?: boolean;
  /**
   * `next` of the last page
   */
  cursor?: number | null;
  limit?: number;
  /**
   * with the advice on them
   */
  advised?: boolean;
}
/**
 * Return what conversations were about, the latest first.
 */
export interface Recap {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "recap";
  /**
   * only these; by default the latest
   *
   * @maxItems 20
   */
  sessions?: string[];
  /**
   * conversations, at most
   */
  limit?: number;
  /**
   * of the latest ones, to skip
   */
  skip?: number;
  /**
   * of each summary, at most
   */
  words?: number;
  /**
   * also split each into its topics, with a summary of each
   */
  topics?: boolean;
}
/**
 * Return a conversation's latest turns and keywords, and the summary of the one before it.
 */
export interface Recent {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "recent";
  /**
   * of this conversation, else of the latest one
   */
  session?: string | null;
  /**
   * turns, at most
   */
  limit?: number;
}
/**
 * Count how often something is mentioned over time, at which hours, and when not.
 */
export interface Trend {
  graph: string;
  /**
   * answer once the record at this offset of `turns` is folded
   */
  after?: number | null;
  /**
   * as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970
   */
  as_of?: number | string | null;
  kind: "trend";
  /**
   * a question, or words: turns with all of their concepts count, or with some of them if no turn has all; without it, every turn that passes the filter
   */
  text?: string | null;
  by?: "day" | "week" | "month";
  /**
   * of the asker's clock from UTC, minutes: where a day begins
   */
  offset?: number;
  only?: Filter;
  /**
   * also the speakers' moods; a question for moods only counts all turns
   */
  moods?: boolean;
}
/**
 * The outcome of a turn or a request.  `duplicate`: its id came before with the same text: nothing changed.
 *
 * redacted  how many secrets (keys, tokens, passwords) were replaced in the turn's text
 * moved_to  where the graph is now: send it there
 * again     rejected only because the graph is on its way: send the same again in a moment
 */
export interface Outcome {
  kind: "outcome";
  status: "accepted" | "duplicate" | "rejected";
  turn: string | null;
  reason: string | null;
  redacted?: number;
  /**
   * of a request to forget or erase: what remains
   */
  remains?: string | null;
  moved_to?: string | null;
  again?: boolean;
  position: Position;
}
/**
 * The answer to a query.  An unknown graph returns `found: false` and empty lists.
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
   * false: nothing in the graph answers; any passages are those that the query's `fallback` asks for
   */
  matched?: boolean;
  /**
   * what to say if nothing in the graph answers
   */
  note?: string | null;
  /**
   * how likely the graph holds an answer
   */
  known?: number;
  /**
   * recalling is paused
   */
  paused?: boolean;
  /**
   * of the semantic memory: relations of the concepts in the question
   */
  relations?: KnownRelation[];
  /**
   * time zone of the times in the context
   */
  timezone?: string;
  /**
   * if the query has `explain`, or guides the search
   */
  how?: How | null;
}
/**
 * A snapshot that was written: its name, the position of its state, and its size.
 */
export interface Checkpointed {
  kind: "checkpointed";
  snapshot: string;
  position: Position;
  bytes: number;
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
 * What a graph holds.  An unknown graph returns `found: false`.
 *
 * turns, concepts      those that are active
 * archived, archived_concepts  turns and concepts that have faded, but can still be found
 * forgotten            turns that were forgotten
 * pinned, pinned_concepts      turns and concepts that a user pinned
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
   * of questions without one
   */
  mode?:
    | "default"
    | "inject"
    | "literal"
    | "ppr"
    | "ppr-push"
    | "steady-state"
    | "subtractive"
    | "path"
    | "vector"
    | "staged";
  /**
   * of questions without a mode
   */
  rerank?: ("hello-agents" | "simplemem" | "mofox") | null;
  /**
   * weights of a turn's features in recall, where not the default
   */
  weights?: {
    [k: string]: number;
  };
  /**
   * of turns and questions without a time zone
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
   * turns that arrived while recording was paused
   */
  unrecorded?: number;
  /**
   * turns that gates set aside as they came: they are in the archive
   */
  uncounted?: number;
  /**
   * rights by subject; empty: open to every subject
   */
  access?: {
    [k: string]: string[];
  };
  /**
   * if requested: size of each tier, growth, path length, how much abstracts cover, what is left of what was said
   */
  measures?: {
    [k: string]: number;
  };
  position: Position;
}
/**
 * A concept and its neighbours.  `found: false`: there is no such graph or concept.
 *
 * neighbours  the strongest links first      paths  to `to`, the strongest first, as ids
 * relations   to other concepts, the most frequent first
 * inferred    what follows by the requested relation, nearest first, at most 10
 * ids         of the latest turns with the concept
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
 * What would be understood: of each turn, in order, and of the people in them.
 *
 * card     subject → slot → its values after the last turn
 * changes  the values that later turns replace
 */
export interface Extracted {
  kind: "extracted";
  turns: ExtractedTurn[];
  card: {
    [k: string]: {
      [k: string]: string[];
    };
  };
  changes: ExtractedChange[];
  /**
   * what read the turns, with its version
   */
  extractor: string;
}
/**
 * The habits of a graph.  An unknown graph returns `found: false`.
 *
 * total   how many habits there are in all
 * groups  of these habits, from the closest to the widest; a single habit is in none
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
 * What a partition's owner holds at `position`.
 *
 * turns        accepted ids, each once                   concepts, pairs, topics   active and archived ones
 * forgotten    concepts and turns that were forgotten    archived                  faded turns, still searchable
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
   * graphs that cannot be read, and why: a key is missing, or stored data is damaged
   */
  unavailable?: {
    [k: string]: string;
  };
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
 * What a request to forget would remove.  An unknown graph returns `found: false`.
 *
 * total      how many turns would be forgotten       turns    the latest of them, as they were said
 * concepts   how many concepts would be forgotten    remains  how many turns would remain
 */
export interface ForgetPreview {
  kind: "forgetpreview";
  graph: string;
  found: boolean;
  total: number;
  concepts: number;
  remains: number;
  turns: RecordedTurn[];
  position: Position;
}
/**
 * The people of a graph, and what has changed, the latest last.  An unknown graph returns `found: false`.
 *
 * total  how many people have a card
 */
export interface Profiled {
  kind: "profiled";
  graph: string;
  found: boolean;
  people: Person[];
  changes: PersonChange[];
  total: number;
  position: Position;
}
/**
 * A page of turns.  An unknown graph returns `found: false`.
 *
 * total  how many turns match in all    next  `cursor` of the next page, null on the last
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
 * The requested conversations.  `total`: how many sessions there are.  An unknown graph returns `found: false`.
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
 * A conversation's working memory.  An unknown graph returns `found: false`.
 *
 * state      working, idle (no turn for a while) or ended     turns      the last ones, in their order
 * total      turns in working memory in all                   keywords   its last ones, the latest last
 * themes     labels of its themes, the latest first           inherited  the summary of the one before
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
 * How often something is mentioned.  An unknown graph returns `found: false`; without a match, there are no turns.
 *
 * concepts  ids of the counted ones       all        whether each turn has all of them
 * turns     with them                     days       with such a turn
 * first, last  ms                         every      days from one such day to the next, in the middle; None: one day
 * periods   those with a turn             pauses     the longest between two such days, of more than twice `every`
 * hours     (24,) turns by hour of day    weekdays   (7,) turns by day of the week, Monday first
 * ids       of the latest such turns
 * moods     number of turns with each mood of their speaker, if requested; of the latest 500 turns
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
 * The failure of a query, and what to do about it.  moved_to: where the graph is now, of code `moved`.
 */
export interface Failure {
  kind: "failure";
  code:
    | "invalid"
    | "wrong-partition"
    | "not-yet"
    | "expired"
    | "overloaded"
    | "forbidden"
    | "unavailable"
    | "moved"
    | "internal";
  message: string;
  moved_to?: string | null;
}
/**
 * This interface was referenced by `Messages`'s JSON-Schema
 * via the `definition` "Change".
 */
export interface Change {}

export type Command = Turn | Advice | Configure | EndSession | Erase | Feedback | Forget | Grant | Move | Pin | Quota | Receive | Reinforce | Revoke | Undo | Unpin;
export type Question = Query | Checkpoint | Compare | Describe | Explore | Extract | Habits | Inspect | List | Picture | PreviewForget | Profile | Read | Recap | Recent | Trend;
export type Answer = Outcome | Reply | Checkpointed | Compared | Description | Explored | Extracted | Recurring | Inspection | Graphs | Pictured | ForgetPreview | Profiled | Turns | Recapped | InMind | Trended | Failure;
