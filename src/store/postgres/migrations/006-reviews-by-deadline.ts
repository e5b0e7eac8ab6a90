/** In the order of the list, so that a page of pending reviews reads no more of them than it shows. */
export const reviewsByDeadline = `
  CREATE INDEX reviews_waiting ON runsheet.reviews (tenant, coalesce(due_at, timestamptz 'infinity'), id) WHERE pending;
`
