/** A pending review may have no deadline: `due_at` no longer tells which ones are pending. */
export const pendingReviews = `
  ALTER TABLE reviews ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
  UPDATE reviews SET pending = 1 WHERE due_at IS NOT NULL;
  CREATE INDEX reviews_pending ON reviews (tenant, conversation) WHERE pending = 1;
`
