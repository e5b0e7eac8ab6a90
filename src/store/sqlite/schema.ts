import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'

/** Marks a database as ours ("RSHT"), so that we never write to an empty file or another program's database. */
const APPLICATION_ID = 0x52_53_48_54
/** Databases from before the first release ("RUNS"). */
const EARLIER_ID = 0x52_55_4e_53

/** Stored in `user_version`. Raise with every change of the tables: other versions are refused. */
const FORMAT = 3

export function createTables(db: DatabaseSync): void {
  db.exec(`BEGIN; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; ${TABLES}; COMMIT`)
}

export function ownerOf(db: DatabaseSync): 'ours' | 'earlier' | 'foreign' {
  const id = numberOf(db, 'application_id')
  if (id === EARLIER_ID || (id === APPLICATION_ID && versionOf(db) < FORMAT)) return 'earlier'
  return id === APPLICATION_ID ? 'ours' : 'foreign'
}

export function checkFormat(db: DatabaseSync, path: string): void {
  switch (ownerOf(db)) {
    case 'foreign':
      throw new StoreError('corrupt', `${path} is not a Runsheet database. Choose another path, or move it away.`)
    case 'earlier': {
      const beside = `${basename(path)}-*`
      const message = `Made by an earlier checkout: ${path}. Move it away, with every ${beside}, or use --data OTHER.`
      throw new StoreError('older', message)
    }
    case 'ours': {
      const version = versionOf(db)
      if (version === FORMAT) return
      const formats = `format ${version}, this one knows ${FORMAT}`
      throw new StoreError('newer', `${path} was written by a newer Runsheet (${formats}). Update Runsheet.`)
    }
  }
}

const versionOf = (db: DatabaseSync): number => numberOf(db, 'user_version')
const numberOf = (db: DatabaseSync, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name])

/**
 * Few pages per commit: rows and indexes store a conversation's number instead of its two names, and a log's head is
 * read from the log.
 */
const TABLES = `
  CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    title TEXT,
    created_at TEXT NOT NULL,
    active_at TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    mark TEXT,
    UNIQUE (tenant, conversation)
  ) STRICT;
  CREATE INDEX conversations_created ON conversations (tenant, created_at, conversation);
  CREATE INDEX conversations_active ON conversations (tenant, archived, pinned, active_at, conversation);

  -- In commit order across conversations: concurrent writers fill few pages, and id tells other processes what is new.
  -- chain: the link of the event (chain.ts).
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    type TEXT NOT NULL,
    turn_id TEXT,
    timestamp TEXT NOT NULL,
    data TEXT NOT NULL,
    chain TEXT NOT NULL,
    UNIQUE (conversation_id, seq)
  ) STRICT;

  -- sum: over the state and the link of its event.
  CREATE TABLE snapshots (
    conversation_id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    v INTEGER NOT NULL,
    state TEXT NOT NULL,
    sum TEXT NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant, conversation, key)
  ) STRICT, WITHOUT ROWID;

  -- Points to the event that holds the task. Clustered by id (UUIDv7): tasks that are created together are stored together.
  CREATE TABLE tasks (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;

  -- needs: who acts next on it (core/model/needs.ts). serves: the need that its lease was claimed for. until: when the
  -- lease expires, in milliseconds; 0 without one.
  CREATE TABLE turns (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn TEXT NOT NULL,
    status TEXT NOT NULL,
    needs TEXT,
    serves TEXT,
    runner TEXT,
    attempt INTEGER NOT NULL DEFAULT 0,
    until REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, conversation, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX turns_claimable ON turns (needs, until) WHERE needs IS NOT NULL;
  CREATE INDEX turns_served ON turns (serves) WHERE serves IS NOT NULL;

  CREATE TABLE reviews (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation TEXT NOT NULL,
    pending INTEGER NOT NULL,
    due_at TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT;
  CREATE INDEX reviews_due ON reviews (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX reviews_pending ON reviews (tenant, conversation) WHERE pending = 1;
  -- In the order of the list, so that a page of pending reviews reads no more of them than it shows.
  CREATE INDEX reviews_waiting ON reviews (tenant, coalesce(due_at, '~'), id) WHERE pending = 1;

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

  -- Webhook notices. due_at: when one may be taken; the process that takes it puts that off. tries: how often it was taken.
  CREATE TABLE notices (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, conversation, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX notices_due ON notices (tenant, due_at);
  -- Notices are stored only for tenants that subscribed.
  CREATE TABLE notices_wanted (tenant TEXT PRIMARY KEY, until TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- The search index, filled from the log by search-indexer.ts. search_keys: the keys of each document after those of its
  -- tenant and kind; ascii splits at spaces and leaves the rest. Merges are done by the indexer, never by a commit.
  CREATE TABLE search_tenants (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE search_documents (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    ref TEXT NOT NULL,
    seq INTEGER NOT NULL,
    tokens TEXT NOT NULL,
    UNIQUE (conversation_id, kind, ref)
  ) STRICT;
  CREATE VIRTUAL TABLE search_keys USING fts5(
    keys, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  );
  INSERT INTO search_keys (search_keys, rank) VALUES ('automerge', 0);
  INSERT INTO search_keys (search_keys, rank) VALUES ('crisismerge', 64);
  -- version: of the tokens. indexed: the id of the last event that is indexed.
  CREATE TABLE search_state (version INTEGER NOT NULL, indexed INTEGER NOT NULL) STRICT;
  INSERT INTO search_state VALUES (0, 0);
`
