/**
 * An index of conversation titles, tasks and messages, filled from the log by `search-indexer.ts`. `search_keys` holds the
 * keys of each document (`keysOf`) after those of its tenant and kind; `ascii` splits at spaces and leaves the rest. Merges
 * are done in small steps by the indexer, never by a commit.
 */
export const search = `
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

  ALTER TABLE tasks DROP COLUMN search;
`
