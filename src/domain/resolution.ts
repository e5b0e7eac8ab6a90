import type { EventData } from './event.ts'
import { projection } from './projection.ts'

/** How a review ended: who decided, with which comment, and what they changed in the draft. */
export type Resolution = EventData['task_create_review_resolved']

/** Review id to its resolution; a pending one has none. */
export const resolutions = projection<{ readonly [review_id: string]: Resolution }>({
  initial: {},
  on: {
    task_create_review_resolved: (known, { data }) => ({ ...known, [data.review_id]: data }),
  },
})
