import { MAX_REJECTED_CLAIMS, claimOn, type Claim } from '../proof/claims.ts'
import type { CommandOf } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import type { TaskFields } from '../model/fields.ts'
import { planById, planOf } from '../model/plan.ts'
import { MAX_RED_CLAIMS, isChecked, proofOf, type OpenClaim } from '../proof/proof.ts'
import { Refusal, type RefusalData } from '../model/refusal.ts'
import { NEXT, REQUIRES, type Task, type TaskStatus } from '../model/task.ts'
import { hasFinalRuns } from './requests.ts'
import type { Draft, ListEditor } from './list-editor.ts'

type Edit = CommandOf<'edit_tasks'>

interface ClaimRules {
  readonly isJudged: boolean
  /** The turn is of an agent elsewhere, so a claim that leaves nothing open ends its plan. */
  readonly endsPlan: boolean
  readonly ruled?: readonly OpenClaim[] | undefined
}

/** A claim that checks or the judge must confirm. */
export type AskedClaim = Claim & { readonly judge?: true }

/** Collects a model's claims, one per task, while its edit is applied as if every claim were granted. */
export class Claims {
  readonly #state: Conversation
  readonly #edit: Edit
  readonly #rules: ClaimRules
  readonly #new: AskedClaim[] = []
  readonly #settled = new Set<string>()
  readonly #asked = new Set<string>()
  readonly #judged = new Set<string>()

  constructor(state: Conversation, edit: Edit, rules: ClaimRules) {
    this.#state = state
    this.#edit = edit
    this.#rules = rules
  }

  /**
   * Drafts claimed as done start as pending when a check or the judge must confirm them. In our own runs the judge
   * rules on them with the call; drafts with checks, and all drafts of an agent elsewhere, are claimed once they exist.
   */
  asPending(drafts: readonly Draft[]): readonly Draft[] {
    const { isJudged, endsPlan, ruled } = this.#rules
    return drafts.map(draft => {
      const hasChecks = this.#hasChecks(draft)
      if (draft.status !== 'completed' || !(isJudged || hasChecks)) return draft
      const { outcome = '', ...rest } = draft
      const { id, title, details = '', criteria = '' } = rest
      if (isJudged && !endsPlan && !hasChecks && !ruled)
        this.#new.push({ task: id, title, details, criteria, status: 'completed', outcome, judge: true })
      return { ...rest, status: 'pending' }
    })
  }

  /** Adds the claim that an element makes. Refused if the task's claims are spent or another call has claimed it. */
  add(task: Task, fields: Partial<TaskFields>, row: number): Refusal | undefined {
    const { status = task.status } = fields
    const isRuled = this.#rules.ruled?.some(({ task_id }) => task_id === task.id) ?? false
    if (!isRuled && claimOn(this.#state, task.id)) return new Refusal('claim_open', { row, task })
    if (!isClaim(task, status) && !this.#isSaidAgain(task, fields)) return undefined
    this.#settled.add(task.id)
    const { isJudged } = this.#rules
    const hasChecks = status === 'completed' && isChecked(this.#state, task)
    if (!hasChecks && !(isJudged && task.status !== 'completed')) return undefined
    this.#asked.add(task.id)
    if (isJudged) this.#judged.add(task.id)
    if (isRuled) return undefined
    // They were approved while the call was held.
    if (this.#rules.ruled)
      return new Refusal('not_checked', { row, task, reason: 'It has checks by now: settle it again.' })
    const spent = spentOn(this.#state, task)
    return spent && new Refusal('claims_spent', { row, task, ...spent })
  }

  /** `ending`: the tasks that end their plan, by `last`. */
  open(editor: ListEditor, ending: readonly Task[]): readonly AskedClaim[] {
    if (this.#rules.ruled) return []
    const last = new Set(ending.map(({ id }) => id))
    const asked = this.#settledIn(editor).flatMap(task => {
      const claim = claimIn(task)
      const isLast = last.has(task.id) && hasFinalRuns(this.#state, planById(this.#state, task.plan_id))
      if (!claim || !(this.#asked.has(task.id) || isLast)) return []
      return this.#judged.has(task.id) ? { ...claim, judge: true as const } : claim
    })
    return [...this.#new, ...asked]
  }

  sign(editor: ListEditor): void {
    for (const { task_id, verdict } of this.#rules.ruled ?? []) {
      const task = this.#settled.has(task_id) ? editor.get(task_id) : undefined
      if (verdict?.verdict === 'ok' && task && claimIn(task)) editor.sign(task_id)
    }
  }

  /** Tasks that an agent elsewhere settles so that its plan has nothing open. */
  last(editor: ListEditor): readonly Task[] {
    if (!this.#rules.endsPlan) return []
    return this.#settledIn(editor).filter(task => claimIn(task) && !editor.hasOpen(task.plan_id))
  }

  #settledIn(editor: ListEditor): readonly Task[] {
    return [...this.#settled].flatMap(id => editor.get(id) ?? [])
  }

  #hasChecks({ allowed = [] }: Draft): boolean {
    return allowed.length > 0 && planOf(this.#state, this.#edit.turn_id ?? '').workspace !== undefined
  }

  /** A new outcome for a done task of a finished plan ends the plan anew. */
  #isSaidAgain(task: Task, { status = task.status, outcome }: Partial<TaskFields>): boolean {
    const isOther = outcome !== undefined && outcome !== task.outcome
    const isAgain = task.status === 'completed' && status === 'completed' && isOther
    return isAgain && this.#rules.endsPlan && planById(this.#state, task.plan_id).open.length === 0
  }
}

function spentOn(state: Conversation, { id }: Task): Pick<RefusalData['claims_spent'], 'by' | 'times'> | undefined {
  const { reds } = proofOf(state, id)
  if (reds >= MAX_RED_CLAIMS) return { by: 'checks', times: reds }
  const rejections = state.rejections.get(id) ?? 0
  return rejections >= MAX_REJECTED_CLAIMS ? { by: 'assessor', times: rejections } : undefined
}

const isClaim = (task: Task, status: TaskStatus): boolean =>
  REQUIRES[status].judge && NEXT[task.status].includes(status)

function claimIn({ id, title, details, criteria, status, outcome = '' }: Task): Claim | undefined {
  if (status !== 'completed' && status !== 'cancelled') return undefined
  return { task: id, title, details, criteria, status, outcome }
}
