/**
 * Fewer pages per commit. Rows and index entries hold a conversation's number instead of its two names. The head of a
 * log is read from the log, so that no row is rewritten for it. A task's row points to the event that holds the task,
 * and only search reads it: lists are made from the state.
 */
export const fewerPages = `
  CREATE TABLE conversations_2 (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    title TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (tenant, conversation)
  ) STRICT;
  INSERT INTO conversations_2 (tenant, conversation, title, created_at)
    SELECT tenant, conversation, title, created_at FROM conversations ORDER BY created_at;
  DROP TABLE conversations;
  ALTER TABLE conversations_2 RENAME TO conversations;
  CREATE INDEX conversations_created ON conversations (tenant, created_at, conversation);

  CREATE TABLE events_2 (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT,
    timestamp TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (conversation_id, seq)
  ) STRICT;
  INSERT INTO events_2
    SELECT e.id, c.id, e.seq, e.v, e.type, e.turn_id, e.timestamp, e.data
    FROM events e JOIN conversations c USING (tenant, conversation) ORDER BY e.id;
  DROP TABLE events;
  ALTER TABLE events_2 RENAME TO events;

  CREATE TABLE snapshots_2 (
    conversation_id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  INSERT INTO snapshots_2
    SELECT c.id, s.seq, s.v, s.state FROM snapshots s JOIN conversations c USING (tenant, conversation);
  DROP TABLE snapshots;
  ALTER TABLE snapshots_2 RENAME TO snapshots;

  -- Clustered by id (UUIDv7, ordered by time): tasks that are created together are stored together.
  CREATE TABLE tasks_2 (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    removed INTEGER NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO tasks_2
    SELECT t.tenant, t.id, c.id, newest.seq, t.created_at, t.removed, t.search
    FROM tasks t
    JOIN conversations c USING (tenant, conversation)
    JOIN (
      SELECT conversation_id, data ->> '$.task.id' AS task, max(seq) AS seq FROM events
      WHERE type IN ('task_created', 'task_changed', 'task_removed') GROUP BY 1, 2
    ) newest ON newest.conversation_id = c.id AND newest.task = t.id;
  DROP TABLE tasks;
  ALTER TABLE tasks_2 RENAME TO tasks;
`
