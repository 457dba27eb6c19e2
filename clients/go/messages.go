package emgas

// What is sent, and what comes back. A field that may be left out is omitted when it is zero, or is a pointer where zero
// means something. A test compares the fields with emgas/schema/asyncapi.json.

import "encoding/json"

// Command is what one tells a graph: a Turn, Configure, Forget, Pin, Unpin, Feedback or Undo.
type Command interface{ graph() string }

// Question is what one asks a graph: a Query or a Describe.
type Question interface{ graph() string }

// Turn is one utterance of a conversation. ID names it for ever: the same again has no effect. At: ms since 1970.
type Turn struct {
	ID          string         `json:"id"`
	Graph       string         `json:"graph"`
	Speaker     string         `json:"speaker"`
	Text        string         `json:"text"`
	Session     string         `json:"session,omitempty"`
	Role        string         `json:"role,omitempty"`
	At          *int64         `json:"at,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Importance  *float64       `json:"importance,omitempty"`
	Attachments []Attachment   `json:"attachments,omitempty"`
}

// Attachment is what came with a turn: a photo, a voice note, a file. Kind: image, audio, video or file.
type Attachment struct {
	URI     string `json:"uri"`
	Mime    string `json:"mime,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Caption string `json:"caption,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// Configure says how a graph is to live from here on: a preset, and what differs from it.
type Configure struct {
	Kind     string         `json:"kind"`
	ID       string         `json:"id"`
	Graph    string         `json:"graph"`
	Preset   string         `json:"preset,omitempty"`
	Settings map[string]any `json:"settings,omitempty"`
}

// Forget names what a graph is to forget.
type Forget struct {
	Kind       string   `json:"kind"`
	ID         string   `json:"id"`
	Graph      string   `json:"graph"`
	Concepts   []string `json:"concepts,omitempty"`
	Turns      []string `json:"turns,omitempty"`
	Sessions   []string `json:"sessions,omitempty"`
	Everything bool     `json:"everything,omitempty"`
}

// Pin names what a graph is to keep in mind, whatever fades.
type Pin struct {
	Kind     string   `json:"kind"`
	ID       string   `json:"id"`
	Graph    string   `json:"graph"`
	Concepts []string `json:"concepts,omitempty"`
	Turns    []string `json:"turns,omitempty"`
}

// Unpin names what may fade again as everything does.
type Unpin struct {
	Kind     string   `json:"kind"`
	ID       string   `json:"id"`
	Graph    string   `json:"graph"`
	Concepts []string `json:"concepts,omitempty"`
	Turns    []string `json:"turns,omitempty"`
}

// Feedback says what somebody thinks of turns that came back: from -1, wrong, to 1, right.
type Feedback struct {
	Kind  string   `json:"kind"`
	ID    string   `json:"id"`
	Graph string   `json:"graph"`
	Turns []string `json:"turns"`
	Query string   `json:"query,omitempty"`
	Value float64  `json:"value"`
}

// Undo takes back a graph's events First to Last, counted from 0; without Last, to the newest.
type Undo struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Graph string `json:"graph"`
	First int64  `json:"first"`
	Last  *int64 `json:"last,omitempty"`
}

// Query is a question to one graph. After: answer once the turn at this offset is folded. AsOf: ms since 1970. Timezone:
// whose "yesterday" is meant, as Europe/Berlin. Fallback: "recent" offers the newest turns where nothing answers.
type Query struct {
	Kind            string     `json:"kind"`
	Graph           string     `json:"graph"`
	Text            string     `json:"text"`
	Mode            string     `json:"mode,omitempty"`
	Spreading       *Spreading `json:"spreading,omitempty"`
	TopConcepts     *int       `json:"top_concepts,omitempty"`
	TopPassages     *int       `json:"top_passages,omitempty"`
	Budget          *int       `json:"budget,omitempty"`
	ContextPassages *int       `json:"context_passages,omitempty"`
	After           *int64     `json:"after,omitempty"`
	AsOf            *int64     `json:"as_of,omitempty"`
	Only            *Filter    `json:"only,omitempty"`
	Asker           string     `json:"asker,omitempty"`
	Timezone        string     `json:"timezone,omitempty"`
	Fallback        string     `json:"fallback,omitempty"`
	Explain         bool       `json:"explain,omitempty"`
	Reinforce       bool       `json:"reinforce,omitempty"`
}

// Filter says which turns may come back. Since, Until: ms since 1970.
type Filter struct {
	Sessions       []string       `json:"sessions,omitempty"`
	Speakers       []string       `json:"speakers,omitempty"`
	Since          *int64         `json:"since,omitempty"`
	Until          *int64         `json:"until,omitempty"`
	Concepts       []string       `json:"concepts,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
	Exclude        []string       `json:"exclude,omitempty"`
	IncludeArchive *bool          `json:"include_archive,omitempty"`
	Roles          []string       `json:"roles,omitempty"`
	Pinned         *bool          `json:"pinned,omitempty"`
	MinImportance  *float64       `json:"min_importance,omitempty"`
	Modality       []string       `json:"modality,omitempty"`
}

// Spreading says how activation spreads; what is nil takes the mode's own default.
type Spreading struct {
	FiringThreshold  *float64 `json:"firing_threshold,omitempty"`
	PropagationDecay *float64 `json:"propagation_decay,omitempty"`
	MaxIterations    *int     `json:"max_iterations,omitempty"`
	Delta            *float64 `json:"delta,omitempty"`
	SelfDecay        *bool    `json:"self_decay,omitempty"`
	Convergence      *float64 `json:"convergence,omitempty"`
	RecallLinks      *float64 `json:"recall_links,omitempty"`
	TopicLinks       *float64 `json:"topic_links,omitempty"`
	Window           string   `json:"window,omitempty"`
}

// Describe asks what a graph holds.
type Describe struct {
	Kind  string `json:"kind"`
	Graph string `json:"graph"`
	After *int64 `json:"after,omitempty"`
}

// Position is how far the answering owner had read: offsets in `events` and in `turns`, -1 for none.
type Position struct {
	Partition int   `json:"partition"`
	Watermark int64 `json:"watermark"`
	Source    int64 `json:"source"`
}

// Outcome is what became of a command: accepted, duplicate or rejected.
type Outcome struct {
	Kind     string   `json:"kind"`
	Status   string   `json:"status"`
	Turn     *string  `json:"turn"`
	Reason   *string  `json:"reason"`
	Position Position `json:"position"`
}

// ActivatedConcept is a concept that a query woke, and the strongest path by which its energy came.
type ActivatedConcept struct {
	ID     string   `json:"id"`
	Label  string   `json:"label"`
	Energy float64  `json:"energy"`
	Path   []string `json:"path"`
}

// RecalledPassage is an old turn, and how well it answers. Why: as in emgas/schema/reply.json, if Explain was asked for.
type RecalledPassage struct {
	ID           string          `json:"id"`
	Session      string          `json:"session"`
	Speaker      string          `json:"speaker"`
	Role         *string         `json:"role"`
	Text         string          `json:"text"`
	At           int64           `json:"at"`
	Score        float64         `json:"score"`
	Archived     bool            `json:"archived"`
	Pinned       bool            `json:"pinned"`
	Kind         string          `json:"kind,omitempty"`
	Members      []string        `json:"members,omitempty"`
	SupersededBy *string         `json:"superseded_by,omitempty"`
	Attachments  []Attachment    `json:"attachments,omitempty"`
	Importance   *float64        `json:"importance"`
	Why          json.RawMessage `json:"why,omitempty"`
}

// Timing is where the time went inside the owner, in milliseconds.
type Timing struct {
	WaitedMS float64 `json:"waited_ms"`
	RecallMS float64 `json:"recall_ms"`
}

// Reply answers a Query. An unknown graph has Found false; Matched is false where nothing in the graph answers.
type Reply struct {
	Kind     string             `json:"kind"`
	Graph    string             `json:"graph"`
	Found    bool               `json:"found"`
	Seeds    []ActivatedConcept `json:"seeds"`
	Concepts []ActivatedConcept `json:"concepts"`
	Passages []RecalledPassage  `json:"passages"`
	Context  string             `json:"context"`
	Tokens   int                `json:"tokens"`
	Position Position           `json:"position"`
	Timing   Timing             `json:"timing"`
	Matched  bool               `json:"matched"`
}

// UnmarshalJSON reads a Reply, which says that it matched by not saying otherwise.
func (m *Reply) UnmarshalJSON(raw []byte) error {
	type plain Reply
	found := plain{Matched: true}
	err := json.Unmarshal(raw, &found)
	*m = Reply(found)
	return err
}

// Theme is a theme of a graph: its label, its concepts' labels, strongest first, and since when it exists (ms).
type Theme struct {
	ID       string   `json:"id"`
	Label    string   `json:"label"`
	Concepts []string `json:"concepts"`
	Born     int64    `json:"born"`
}

// Description answers a Describe. An unknown graph has Found false.
type Description struct {
	Kind             string             `json:"kind"`
	Graph            string             `json:"graph"`
	Found            bool               `json:"found"`
	Preset           string             `json:"preset"`
	Settings         map[string]float64 `json:"settings"`
	Clock            int64              `json:"clock"`
	Turns            int                `json:"turns"`
	Archived         int                `json:"archived"`
	Forgotten        int                `json:"forgotten"`
	Concepts         int                `json:"concepts"`
	ArchivedConcepts int                `json:"archived_concepts"`
	Pinned           int                `json:"pinned"`
	PinnedConcepts   int                `json:"pinned_concepts"`
	LongTerm         int                `json:"long_term"`
	Themes           []Theme            `json:"themes"`
	Position         Position           `json:"position"`
}

// Failure is the answer to a question that could not be answered.
type Failure struct {
	Kind    string `json:"kind"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (m Turn) graph() string      { return m.Graph }
func (m Configure) graph() string { return m.Graph }
func (m Forget) graph() string    { return m.Graph }
func (m Pin) graph() string       { return m.Graph }
func (m Unpin) graph() string     { return m.Graph }
func (m Feedback) graph() string  { return m.Graph }
func (m Undo) graph() string      { return m.Graph }
func (m Query) graph() string     { return m.Graph }
func (m Describe) graph() string  { return m.Graph }

// MarshalJSON writes the kind, by which a reader tells messages apart; a turn has none.

func (m Configure) MarshalJSON() ([]byte, error) {
	type plain Configure
	m.Kind = "configure"
	return json.Marshal(plain(m))
}
func (m Forget) MarshalJSON() ([]byte, error) {
	type plain Forget
	m.Kind = "forget"
	return json.Marshal(plain(m))
}
func (m Pin) MarshalJSON() ([]byte, error) {
	type plain Pin
	m.Kind = "pin"
	return json.Marshal(plain(m))
}
func (m Unpin) MarshalJSON() ([]byte, error) {
	type plain Unpin
	m.Kind = "unpin"
	return json.Marshal(plain(m))
}
func (m Feedback) MarshalJSON() ([]byte, error) {
	type plain Feedback
	m.Kind = "feedback"
	return json.Marshal(plain(m))
}
func (m Undo) MarshalJSON() ([]byte, error) {
	type plain Undo
	m.Kind = "undo"
	return json.Marshal(plain(m))
}
func (m Query) MarshalJSON() ([]byte, error) {
	type plain Query
	m.Kind = "query"
	return json.Marshal(plain(m))
}
func (m Describe) MarshalJSON() ([]byte, error) {
	type plain Describe
	m.Kind = "describe"
	return json.Marshal(plain(m))
}
