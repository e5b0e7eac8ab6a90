/**
 * What lists of conversations show and are sorted by (`domain/session-list.ts`), as the logs so far have it. Part of the
 * checksum of the row.
 */
export const lists = `
  ALTER TABLE conversations ADD COLUMN active_at TEXT NOT NULL DEFAULT '';
  ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE conversations ADD COLUMN mark TEXT;
  UPDATE conversations AS c SET
    active_at = coalesce((
      SELECT max(CASE
        WHEN type IN ('turn_opened', 'turn_started', 'turn_finished', 'task_create_review_required', 'task_create_review_resolved')
          THEN timestamp
        WHEN type IN ('review_panel_opened', 'review_panel_left') THEN NULL
        ELSE substr(timestamp, 1, 16) || ':00.000Z'
      END) FROM events WHERE conversation_id = c.id
    ), c.created_at),
    mark = CASE
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.tenant = c.tenant AND r.conversation = c.conversation AND r.pending = 1)
        THEN 'waiting'
      WHEN EXISTS (SELECT 1 FROM turns t WHERE t.tenant = c.tenant AND t.conversation = c.conversation AND t.status = 'running')
        THEN 'running'
      WHEN 'failed' = (
        SELECT t.status FROM turns t WHERE t.tenant = c.tenant AND t.conversation = c.conversation AND t.turn = (
          SELECT turn_id FROM events WHERE conversation_id = c.id AND type IN ('turn_opened', 'turn_started')
          ORDER BY seq DESC LIMIT 1
        )
      ) THEN 'failed'
    END;
  UPDATE conversations SET row_sum = database_checksum(
      i.id, 'conversation', tenant, conversation, title, created_at, active_at, pinned, archived, mark
    ) FROM identity i;
  CREATE INDEX conversations_active ON conversations (tenant, archived, pinned, active_at, conversation);
`
