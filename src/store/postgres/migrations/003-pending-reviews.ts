/** A pending review may have no deadline: `due_at` no longer tells which ones are pending. */
export const pendingReviews = `
  ALTER TABLE runsheet.reviews ADD COLUMN pending boolean NOT NULL DEFAULT false;
  UPDATE runsheet.reviews SET pending = true WHERE due_at IS NOT NULL;
  CREATE INDEX reviews_pending ON runsheet.reviews (tenant, conversation) WHERE pending;
`
