/**
 * What is to be told to a webhook, written with the commit that makes it. `due_at`: when it may be taken; a process that
 * takes it puts that off, so that another one does not send it, too. `tries`: how often it was taken. Kept only for tenants
 * whose notices somebody wants.
 */
export const notices = `
  CREATE TABLE notices (
    tenant TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, conversation, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX notices_due ON notices (tenant, due_at);
  CREATE TABLE notices_wanted (tenant TEXT PRIMARY KEY, until TEXT NOT NULL) STRICT, WITHOUT ROWID;
`
