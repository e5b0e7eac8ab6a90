/** In the order of the list, so that a page of pending reviews reads no more of them than it shows. */
export const reviewsByDeadline = `
  CREATE INDEX reviews_waiting ON reviews (tenant, coalesce(due_at, '~'), id) WHERE pending = 1;
`
