/**
 * Everything is keyed by (tenant, conversation). Names sort bytewise, as in the other stores, whatever the locale.
 * JSON is kept as text: `jsonb` would refuse a NUL or half a surrogate pair in it.
 */
export const first = `
  CREATE TABLE runsheet.conversations (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL DEFAULT 0,
    title text,
    -- Null until the first event: then the row only serves as a lock, or belongs to a key.
    created_at text COLLATE "C",
    updated_at text COLLATE "C",
    -- In whole seconds, so that most updates of a busy conversation touch no index.
    changed_at timestamptz NOT NULL DEFAULT date_trunc('second', clock_timestamp()),
    PRIMARY KEY (tenant, conversation)
  ) WITH (fillfactor = 80);
  CREATE INDEX conversations_created ON runsheet.conversations (tenant, created_at, conversation);
  CREATE INDEX conversations_changed ON runsheet.conversations (changed_at);

  CREATE TABLE runsheet.events (
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

  CREATE TABLE runsheet.snapshots (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    v integer NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (tenant, conversation)
  );

  CREATE TABLE runsheet.keys (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body_hash text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (tenant, conversation, key)
  );

  CREATE TABLE runsheet.tasks (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    turn text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    position double precision NOT NULL,
    number integer NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    removed boolean NOT NULL,
    search text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, id)
  ) WITH (fillfactor = 90);
  CREATE INDEX tasks_conversation_turn ON runsheet.tasks (tenant, conversation, turn);
  CREATE INDEX tasks_conversation_created ON runsheet.tasks (tenant, conversation, created_at);
  CREATE INDEX tasks_turn_created ON runsheet.tasks (tenant, turn, created_at);
  CREATE INDEX tasks_turn_status ON runsheet.tasks (tenant, turn, status);

  CREATE TABLE runsheet.turns (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    turn text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    parked boolean NOT NULL,
    runner text,
    attempt integer NOT NULL DEFAULT 0,
    -- When the lease expires; -infinity without a lease.
    until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (tenant, conversation, turn)
  );
  CREATE INDEX turns_claimable ON runsheet.turns (until) WHERE status = 'running' AND NOT parked;

  CREATE TABLE runsheet.reviews (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    due_at timestamptz,
    body text NOT NULL,
    PRIMARY KEY (tenant, id)
  );
  CREATE INDEX reviews_due ON runsheet.reviews (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE runsheet.templates (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, name)
  );

  -- Live text need not survive a crash.
  CREATE UNLOGGED TABLE runsheet.live (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    entry text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT date_trunc('second', clock_timestamp()),
    PRIMARY KEY (tenant, conversation)
  ) WITH (fillfactor = 50);
  CREATE INDEX live_changed ON runsheet.live (changed_at);
`
