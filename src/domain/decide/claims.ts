import { type Claim, isSameClaim, type Judged, judgedOn, MAX_REJECTED_CLAIMS, objectionTo } from '../claim.ts'
import type { Conversation } from '../conversation.ts'
import { Refusal } from '../refusal.ts'
import { NEXT, REQUIRES, type Task, type TaskStatus } from '../task.ts'
import type { Draft, ListEditor } from './list-editor.ts'

/**
 * What a model's edit claims in a judged run, one claim per task. The edit is made as if every claim were granted; then a
 * claim is granted by its verdict, or left for the assessor.
 */
export class Claims {
  /** Those that the assessor has not ruled on. */
  readonly open: Claim[] = []
  readonly #state: Conversation
  readonly #judged: readonly Judged[]
  /** Task id to the element that claims it. */
  readonly #rows = new Map<string, number>()

  constructor(state: Conversation, judged: readonly Judged[]) {
    this.#state = state
    this.#judged = judged
  }

  /** The drafts, with those that the model calls done as pending ones: their claims follow once they exist. */
  asPending(drafts: readonly Draft[]): readonly Draft[] {
    return drafts.map((draft, row) => {
      if (draft.status !== 'completed') return draft
      const { outcome = '', ...rest } = draft
      const { title, details = '', criteria = '' } = rest
      const claim: Claim = { task: row, title, details, criteria, status: 'completed', outcome }
      const judged = judgedOn(this.#judged, row)
      if (!judged || !isSameClaim(judged.claim, claim)) this.open.push(claim)
      return { ...rest, status: 'pending' }
    })
  }

  /** Notes that an element settles a task, unless that was turned down or is not assessed any more. */
  add(task: Task, status: TaskStatus | undefined, row: number): Refusal | undefined {
    if (!isClaim(task, status)) return undefined
    const judged = judgedOn(this.#judged, task.id)
    const objection = judged && objectionTo(judged)
    if (objection) return new Refusal('not_accepted', { row, task, ...objection })
    if (!judged && (this.#state.rejections.get(task.id) ?? 0) >= MAX_REJECTED_CLAIMS) {
      return new Refusal('claims_spent', { row, task })
    }
    this.#rows.set(task.id, row)
    return undefined
  }

  /** Grants what the assessor passed, if it is still what the assessor saw. */
  settle(editor: ListEditor): Refusal | undefined {
    for (const [id, row] of this.#rows) {
      const task = editor.get(id)
      const claim = task && claimOn(task)
      // Reopened by a later element of the same call: nothing is claimed any more.
      if (!claim) continue
      const judged = judgedOn(this.#judged, id)
      if (!judged) this.open.push(claim)
      else if (isSameClaim(judged.claim, claim)) editor.sign(id)
      else return new Refusal('not_accepted', { row, task, verdict: 'unknown', reason: CHANGED })
    }
    return undefined
  }
}

const CHANGED = 'It changed after the assessor was asked.'

/** Whether a model needs the assessor's consent for this status. */
const isClaim = (task: Task, status: TaskStatus | undefined): boolean =>
  status !== undefined && REQUIRES[status].judge && NEXT[task.status].includes(status)

function claimOn({ id, title, details, criteria, status, outcome = '' }: Task): Claim | undefined {
  if (status !== 'completed' && status !== 'cancelled') return undefined
  return { task: id, title, details, criteria, status, outcome }
}
