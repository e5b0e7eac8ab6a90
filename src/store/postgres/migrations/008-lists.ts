/** What lists of conversations show and are sorted by (`domain/session-list.ts`), as the logs so far have it. */
export const lists = `
  ALTER TABLE runsheet.conversations
    ADD COLUMN active_at text COLLATE "C",
    ADD COLUMN pinned boolean NOT NULL DEFAULT false,
    ADD COLUMN archived boolean NOT NULL DEFAULT false,
    ADD COLUMN mark text COLLATE "C";
  UPDATE runsheet.conversations AS c SET
    active_at = coalesce((
      SELECT max(CASE
        WHEN type IN ('turn_opened', 'turn_started', 'turn_finished', 'task_create_review_required', 'task_create_review_resolved')
          THEN timestamp
        WHEN type IN ('review_panel_opened', 'review_panel_left') THEN NULL
        ELSE substr(timestamp, 1, 16) || ':00.000Z'
      END) FROM runsheet.events e WHERE e.tenant = c.tenant AND e.conversation = c.conversation
    ), c.created_at),
    mark = CASE
      WHEN EXISTS (SELECT FROM runsheet.reviews r WHERE r.tenant = c.tenant AND r.conversation = c.conversation AND r.pending)
        THEN 'waiting'
      WHEN EXISTS (SELECT FROM runsheet.turns t WHERE t.tenant = c.tenant AND t.conversation = c.conversation AND t.status = 'running')
        THEN 'running'
      WHEN 'failed' = (
        SELECT t.status FROM runsheet.turns t WHERE t.tenant = c.tenant AND t.conversation = c.conversation AND t.turn = (
          SELECT e.turn_id FROM runsheet.events e
          WHERE e.tenant = c.tenant AND e.conversation = c.conversation AND e.type IN ('turn_opened', 'turn_started')
          ORDER BY e.seq DESC LIMIT 1
        )
      ) THEN 'failed'
    END
    WHERE c.created_at IS NOT NULL;
  CREATE INDEX conversations_active ON runsheet.conversations (tenant, archived, pinned, active_at, conversation);
`
