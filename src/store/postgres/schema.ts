import { StoreError } from '../store-error.ts'
import type { Connections, Session } from './connections.ts'

export const SCHEMA = 'runsheet_plans'

/** Raise with every change of the tables: other versions are refused. */
const FORMAT = 2

/** Our advisory lock number ("RUNS"): serializes processes that create the tables. */
const LOCK = 0x52_55_4e_53
const MAX_MS = 60_000

export async function createTables(database: Connections): Promise<void> {
  // Check first, so that a user without CREATE rights can use a prepared database.
  if (await database.use(session => hasTables(session), ONCE)) return
  await database.use(
    async session => {
      await session.begin()
      await session.query(`SELECT pg_advisory_xact_lock(${LOCK})`)
      // Another process may have created them concurrently.
      if (!(await hasTables(session))) await session.query(TABLES)
      await session.query('COMMIT')
    },
    { ...ONCE, ms: MAX_MS },
  )
}

export async function requireTables(database: Connections): Promise<void> {
  if (await database.use(session => hasTables(session), ONCE)) return
  throw new StoreError('readonly', 'The database holds no plans yet: start a server on it first.')
}

/** At startup an operator waits for the error. */
const ONCE = { retries: false }

async function hasTables(session: Session): Promise<boolean> {
  const [found] = await session.query<{ ours: boolean; earlier: boolean }>(
    `SELECT to_regclass('${SCHEMA}.format') IS NOT NULL AS ours, EXISTS (
        SELECT FROM pg_tables WHERE schemaname = 'runsheet' AND tablename = 'runsheet_migrations'
      ) AS earlier`,
  )
  if (!found?.ours) {
    if (found?.earlier) throw earlier('runsheet')
    return false
  }
  const [row] = await session.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.format`)
  if (row?.version === FORMAT) return true
  if (row && row.version < FORMAT) throw earlier(SCHEMA)
  const formats = `format ${row?.version}, this one knows ${FORMAT}`
  throw new StoreError('newer', `The database was written by a newer Runsheet (${formats}). Update Runsheet.`)
}

const earlier = (schema: string): StoreError =>
  new StoreError(
    'older',
    `Made by an earlier checkout: the schema "${schema}" of this database. Move it away (ALTER SCHEMA ${schema} RENAME TO …), or use another database.`,
  )

/**
 * Everything is keyed by (tenant, conversation). Names sort bytewise, as in the other stores, whatever the locale. JSON
 * is stored as text, because `jsonb` rejects NUL and lone surrogates.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS ${SCHEMA};

  CREATE TABLE ${SCHEMA}.conversations (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL DEFAULT 0,
    title text,
    -- Null until the first event: then the row only serves as a lock, or belongs to a key.
    created_at text COLLATE "C",
    updated_at text COLLATE "C",
    active_at text COLLATE "C",
    pinned boolean NOT NULL DEFAULT false,
    archived boolean NOT NULL DEFAULT false,
    mark text COLLATE "C",
    -- In whole seconds, so that most updates of a busy conversation touch no index.
    changed_at timestamptz NOT NULL DEFAULT date_trunc('second', clock_timestamp()),
    PRIMARY KEY (tenant, conversation)
  ) WITH (fillfactor = 80);
  CREATE INDEX conversations_created ON ${SCHEMA}.conversations (tenant, created_at, conversation);
  CREATE INDEX conversations_active ON ${SCHEMA}.conversations (tenant, archived, pinned, active_at, conversation);
  CREATE INDEX conversations_changed ON ${SCHEMA}.conversations (changed_at);

  CREATE TABLE ${SCHEMA}.events (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    v integer NOT NULL,
    type text COLLATE "C" NOT NULL,
    turn_id text COLLATE "C",
    timestamp text COLLATE "C" NOT NULL,
    -- The task that it is about, taken out of the data: a timeline need not parse every event.
    task text COLLATE "C",
    data text NOT NULL,
    PRIMARY KEY (tenant, conversation, seq)
  );

  CREATE TABLE ${SCHEMA}.snapshots (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    v integer NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (tenant, conversation)
  );

  CREATE TABLE ${SCHEMA}.keys (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body_hash text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (tenant, conversation, key)
  );

  -- Points to the event that holds the task.
  CREATE TABLE ${SCHEMA}.tasks (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    removed boolean NOT NULL,
    PRIMARY KEY (tenant, id)
  ) WITH (fillfactor = 90);
  CREATE INDEX tasks_conversation ON ${SCHEMA}.tasks (tenant, conversation);

  CREATE TABLE ${SCHEMA}.turns (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    turn text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    -- Who acts next on it (domain/needs.ts), and the need that its lease was claimed for.
    needs text COLLATE "C",
    serves text COLLATE "C",
    runner text,
    attempt integer NOT NULL DEFAULT 0,
    -- When the lease expires; -infinity without a lease.
    until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (tenant, conversation, turn)
  );
  CREATE INDEX turns_claimable ON ${SCHEMA}.turns (needs, until) WHERE needs IS NOT NULL;
  CREATE INDEX turns_served ON ${SCHEMA}.turns (serves) WHERE serves IS NOT NULL;

  CREATE TABLE ${SCHEMA}.reviews (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    pending boolean NOT NULL,
    due_at timestamptz,
    body text NOT NULL,
    PRIMARY KEY (tenant, id)
  );
  CREATE INDEX reviews_due ON ${SCHEMA}.reviews (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX reviews_pending ON ${SCHEMA}.reviews (tenant, conversation) WHERE pending;
  -- In the order of the list, so that a page of pending reviews reads no more of them than it shows.
  CREATE INDEX reviews_waiting ON ${SCHEMA}.reviews (tenant, coalesce(due_at, timestamptz 'infinity'), id) WHERE pending;

  CREATE TABLE ${SCHEMA}.templates (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, name)
  );

  -- Live text need not survive a crash.
  CREATE UNLOGGED TABLE ${SCHEMA}.live (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    entry text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT date_trunc('second', clock_timestamp()),
    PRIMARY KEY (tenant, conversation)
  ) WITH (fillfactor = 50);
  CREATE INDEX live_changed ON ${SCHEMA}.live (changed_at);

  -- Webhook notices. due_at: when one may be taken; the node that takes it puts that off. tries: how often it was taken.
  CREATE TABLE ${SCHEMA}.notices (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (tenant, conversation, seq)
  );
  CREATE INDEX notices_due ON ${SCHEMA}.notices (tenant, due_at);
  -- Notices are stored only for tenants that subscribed.
  CREATE TABLE ${SCHEMA}.notices_wanted (tenant text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);

  -- The search index: a commit only queues its events, search-indexer.ts does the rest.
  CREATE TABLE ${SCHEMA}.search_queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL
  );
  CREATE TABLE ${SCHEMA}.search_documents (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    ref text COLLATE "C" NOT NULL,
    -- The time and the event that it came up with: its place in a list. seq: the event that has its text now.
    born bigint NOT NULL,
    born_seq integer NOT NULL,
    seq integer NOT NULL,
    tokens text COLLATE "C" NOT NULL,
    lexemes tsvector NOT NULL,
    PRIMARY KEY (tenant, conversation, kind, ref)
  );
  CREATE INDEX search_documents_newest ON ${SCHEMA}.search_documents (tenant, kind, born, conversation, born_seq);
  -- Every search reads the pending list.
  CREATE INDEX search_documents_lexemes ON ${SCHEMA}.search_documents USING gin (lexemes)
    WITH (gin_pending_list_limit = 64);
  CREATE TABLE ${SCHEMA}.search_state (version integer NOT NULL);
  INSERT INTO ${SCHEMA}.search_state VALUES (0);

  CREATE TABLE ${SCHEMA}.format (version integer NOT NULL);
  INSERT INTO ${SCHEMA}.format VALUES (${FORMAT});
`
