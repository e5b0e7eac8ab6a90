import type { ModelEdit, Sources, TaskChange } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import { findTask } from '../../core/decide/tasks.ts'
import { TOOLSETS } from '../../core/model/policy.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { REQUIRES } from '../../core/model/task.ts'
import type { CallChecks, CheckedRow, MadeRow } from '../door/door.ts'
import type { ToolEdit, Toolset } from './toolset.ts'
import type { View } from './view.ts'

export interface TranslationDeps {
  readonly state: Conversation
  readonly turnId: string
  readonly toolset: Toolset
  readonly newId: () => string
  readonly sources: Sources
  /** For external agents: whether our judge rules on their claims. May read a file. */
  readonly judges: () => boolean
  /** Present if the turn has a workspace. */
  readonly checks?: CallChecks | undefined
  /** In a run: the model's latest text, used as the outcome if its tools have no field for one. */
  readonly lastText: string | undefined
}

export class Translation implements View {
  readonly turnId: string
  readonly state: Conversation
  readonly #deps: TranslationDeps
  #isUnchecked = false
  #hasJudge: boolean | undefined

  constructor(deps: TranslationDeps) {
    this.state = deps.state
    this.turnId = deps.turnId
    this.#deps = deps
  }

  /** Cached, because the lookup may read a file. */
  get isJudged(): boolean {
    return (this.#hasJudge ??= this.#deps.judges())
  }

  /**
   * Turns a model's command line and globs into a new task's checks and scope. Without a workspace there are none, and
   * the answer says so.
   */
  checked({ check, scope }: CheckedRow, row?: number): MadeRow {
    const { checks } = this.#deps
    if (!check?.trim() && !scope?.length) return {}
    if (!checks) {
      this.#isUnchecked = true
      return {}
    }
    const made = checks.fromRow({ check, scope })
    if (made instanceof Refusal) throw made.at(row)
    return made
  }

  edit({ create, change, remove, each }: ToolEdit): ModelEdit {
    const { newId, sources } = this.#deps
    const edit: ModelEdit = {
      ...sources,
      ...(create ? { create: create.map(draft => ({ ...draft, id: newId() })) } : {}),
      ...(change ? { change: change.map(one => this.#withOutcome(one)) } : {}),
      ...(remove ? { remove } : {}),
      ...(each ? { each } : {}),
      ...(this.#isUnchecked ? { unchecked: true } : {}),
    }
    return mayClaim(edit) && this.isJudged ? { ...edit, judges: true } : edit
  }

  /** Uses the model's latest text as the outcome of what it settles if its tools have no field for one. */
  #withOutcome(change: TaskChange): TaskChange {
    const { status, outcome } = change.fields
    const { lastText, toolset } = this.#deps
    if (!lastText || outcome !== undefined || status === undefined || !REQUIRES[status].outcome) return change
    if (TOOLSETS[toolset.name].outcome || findTask(this.state, change.task)?.status === status) return change
    return { ...change, fields: { ...change.fields, outcome: lastText } }
  }
}

const mayClaim = ({ create = [], change = [] }: ModelEdit): boolean =>
  create.some(({ status = 'pending' }) => REQUIRES[status].judge) ||
  change.some(({ fields: { status, outcome } }) => (status ? REQUIRES[status].judge : outcome !== undefined))
