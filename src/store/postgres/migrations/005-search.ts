/**
 * An index of conversation titles, tasks and messages. A commit only queues the events that concern it; `search-indexer.ts`
 * does the rest. Documents are newer the later their commit was queued; those from before the queue go by their timestamp,
 * and `born` puts them before all others. The pending list of the GIN index stays short, because every search reads it.
 */
export const search = `
  CREATE TABLE runsheet.search_queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    dated boolean NOT NULL DEFAULT false
  );
  CREATE TABLE runsheet.search_documents (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    ref text COLLATE "C" NOT NULL,
    -- The commit and the event that it came up with: its place. seq: the event that has its text now.
    born bigint NOT NULL,
    born_seq integer NOT NULL,
    seq integer NOT NULL,
    tokens text COLLATE "C" NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (tenant, conversation, kind, ref)
  );
  CREATE INDEX search_documents_newest ON runsheet.search_documents (tenant, kind, born, conversation, born_seq);
  CREATE INDEX search_documents_lexemes ON runsheet.search_documents USING gin (lexemes)
    WITH (gin_pending_list_limit = 64);

  CREATE TABLE runsheet.search_state (version integer NOT NULL);
  INSERT INTO runsheet.search_state VALUES (0);

  ALTER TABLE runsheet.tasks DROP COLUMN search;
`
