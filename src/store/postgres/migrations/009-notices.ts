/**
 * What is to be told to a webhook, written with the commit that makes it. `due_at`: when it may be taken; a node that takes
 * it puts that off, so that another one does not send it, too. `tries`: how often it was taken. Kept only for tenants whose
 * notices somebody wants.
 */
export const notices = `
  CREATE TABLE runsheet.notices (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (tenant, conversation, seq)
  );
  CREATE INDEX notices_due ON runsheet.notices (tenant, due_at);
  CREATE TABLE runsheet.notices_wanted (tenant text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL);
`
