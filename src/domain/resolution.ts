import type { Resolution } from './event.ts'
import { projection } from './projection.ts'

/** Review id to its resolution; a pending one has none. */
export const resolutions = projection<{ readonly [review_id: string]: Resolution }>({
  initial: {},
  on: {
    task_create_review_resolved: (known, { data }) => ({ ...known, [data.review_id]: data }),
  },
})

/** How the plan was decided that a turn goes on with: one that was reopened. The turn's message is ours, not the person's. */
export function startedBy(
  known: { readonly [review_id: string]: Resolution },
  turnId: string,
): 'approved' | 'changes_requested' | undefined {
  const decision = Object.values(known).find(({ continued_by }) => continued_by === turnId)
  return decision && (decision.action === 'confirm' ? 'approved' : 'changes_requested')
}
