/**
 * Checksums for all that is not derived from the log, and for what is read without folding it. `database_checksum` is a
 * function of ours. The id is part of every checksum, so that rows of another database do not count.
 */
export const checksums = `
  -- templates: how often a template was written. gaps: event ids that were unused when checksums began.
  CREATE TABLE identity (id TEXT NOT NULL, templates INTEGER NOT NULL, gaps INTEGER NOT NULL) STRICT;
  INSERT INTO identity SELECT lower(hex(randomblob(16))), 0, coalesce(max(id), 0) - count(*) FROM events;

  ALTER TABLE events ADD COLUMN sum INTEGER;
  UPDATE events SET sum = database_checksum(i.id, 'event', c.tenant, c.conversation, seq, v, type, turn_id, timestamp, data)
    FROM identity i, conversations c WHERE c.id = conversation_id;

  ALTER TABLE snapshots ADD COLUMN sum INTEGER;
  UPDATE snapshots SET sum = database_checksum(i.id, 'snapshot', c.tenant, c.conversation, seq, v, state)
    FROM identity i, conversations c WHERE c.id = conversation_id;

  ALTER TABLE keys ADD COLUMN sum INTEGER;
  UPDATE keys SET sum = database_checksum(i.id, 'key', tenant, conversation, key, body_hash, value) FROM identity i;

  ALTER TABLE reviews ADD COLUMN sum INTEGER;
  UPDATE reviews SET sum = database_checksum(i.id, 'review', tenant, reviews.id, conversation, pending, due_at, body)
    FROM identity i;

  ALTER TABLE templates ADD COLUMN sum INTEGER;
  UPDATE templates SET sum = database_checksum(i.id, 'template', tenant, name, body) FROM identity i;
`
