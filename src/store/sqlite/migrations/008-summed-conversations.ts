/** A checksum for the rows that lists of conversations show. Not named `sum`, because these rows are joined to events. */
export const summedConversations = `
  ALTER TABLE conversations ADD COLUMN row_sum INTEGER;
  UPDATE conversations SET row_sum = database_checksum(i.id, 'conversation', tenant, conversation, title, created_at)
    FROM identity i;
`
