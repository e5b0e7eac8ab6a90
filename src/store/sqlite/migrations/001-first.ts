/**
 * Everything is keyed by (tenant, conversation). Events are stored in commit order across conversations: concurrent
 * writers fill few pages, and `id` tells other processes what is new.
 */
export const first = `
  CREATE TABLE conversations (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    title TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX conversations_created ON conversations (tenant, created_at, conversation);

  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT,
    timestamp TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (tenant, conversation, seq)
  ) STRICT;

  CREATE TABLE snapshots (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation)
  ) STRICT;

  CREATE TABLE keys (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tasks (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn TEXT NOT NULL,
    status TEXT NOT NULL,
    position REAL NOT NULL,
    number INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    removed INTEGER NOT NULL,
    search TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT;
  CREATE INDEX tasks_conversation_turn ON tasks (tenant, conversation, turn);
  CREATE INDEX tasks_conversation_created ON tasks (tenant, conversation, created_at);
  CREATE INDEX tasks_turn_created ON tasks (tenant, turn, created_at);
  CREATE INDEX tasks_turn_status ON tasks (tenant, turn, status);

  CREATE TABLE turns (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn TEXT NOT NULL,
    status TEXT NOT NULL,
    parked INTEGER NOT NULL,
    runner TEXT,
    attempt INTEGER NOT NULL DEFAULT 0,
    until TEXT,
    PRIMARY KEY (tenant, conversation, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX turns_claimable ON turns (until) WHERE status = 'running' AND parked = 0;

  CREATE TABLE reviews (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation TEXT NOT NULL,
    due_at TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT;
  CREATE INDEX reviews_due ON reviews (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE templates (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE live (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (tenant, conversation)
  ) STRICT;

  -- A conversation's JSON file. content: what we wrote last (null: nothing yet, the name is reserved). previous: what the file held before,
  -- while settled = 0 (the rename is not confirmed). extras: other programs' fields of tasks that are not in the file now.
  CREATE TABLE task_files (
    name TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    content TEXT,
    previous TEXT,
    settled INTEGER NOT NULL,
    extras TEXT NOT NULL
  ) STRICT;
`
