import type { Check } from '../proof/check.ts'
import { labelOf } from '../proof/check-text.ts'
import type { TaskFields } from '../model/fields.ts'
import { changesText } from '../proof/file-change.ts'
import { HELD_OUT } from '../proof/held-out.ts'
import { EDITABLE } from '../model/row.ts'
import { isSettled } from '../model/task.ts'
import type { FieldProblem, Refusal, RefusalCode, RefusalData, Refused, TaskName } from '../model/refusal.ts'

/** The words of an audience: a toolset's model, a form, a page in its language. Absent parts use our own words. */
export interface Vocabulary {
  readonly idOf?: (task: TaskName) => string | number
  /** The audience's names for our fields and statuses. */
  readonly words?: Readonly<Record<string, string>>
  /** Our fields that the audience has. Absent: all. */
  readonly fields?: readonly (keyof TaskFields)[]
  /** The path of an element's field in the audience's input. */
  readonly at?: (row: number, field: string) => string
  /** Sentences that replace ours, by code. */
  readonly sentences?: Sentences
}

type Sentences = { readonly [C in RefusalCode]?: (data: RefusalData[C], speaker: Speaker) => string }

/** The one renderer of refusals: the problem, the expectation, the remedy. */
export function say({ code, data }: Refused | Refusal, vocabulary: Vocabulary = {}): string {
  const sentence = (vocabulary.sentences?.[code] ?? ENGLISH[code]) as Sentence
  return sentence(data, new Speaker(vocabulary))
}

type Sentence = (data: RefusalData[RefusalCode], speaker: Speaker) => string

class Speaker {
  readonly #vocabulary: Vocabulary

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  word(word: string): string {
    const { words = {} } = this.#vocabulary
    return Object.hasOwn(words, word) ? (words[word] ?? word) : word
  }

  words(words: readonly string[]): string {
    return words.map(word => this.word(word)).join(', ')
  }

  has(field: keyof TaskFields): boolean {
    return this.#vocabulary.fields?.includes(field) ?? true
  }

  id(task: TaskName): string | number {
    return this.#vocabulary.idOf?.(task) ?? task.number
  }

  task(task: TaskName): string {
    const word = this.word('task')
    return `${word.charAt(0).toUpperCase()}${word.slice(1)} ${this.id(task)}`
  }

  field(field: string, row: number | undefined, index?: number): string {
    const { at = (each: number, name: string) => `tasks[${each}].${name}` } = this.#vocabulary
    const word = this.word(field)
    // The whole batch has one parent.
    const place = row === undefined || field === 'parent_id' ? word : at(row, word)
    return index === undefined ? place : `${place}[${index}]`
  }

  open({ open, more }: { readonly open: readonly TaskName[]; readonly more: number }): string {
    if (open.length === 0) return 'Nothing is open.'
    const names = open.map(task => `${this.id(task)} (${task.title})`)
    return `Open: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
  }
}

const RULES: { readonly [R in FieldProblem['rule']]: (problem: FieldProblem, speaker: Speaker) => string } = {
  required: () => 'is required',
  empty: () => 'must not be empty',
  too_long: ({ limit, got }) => `must be at most ${limit} characters, got ${got}`,
  too_few: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  too_many: ({ limit, got }) => `must have at most ${limit} entries${got === undefined ? '' : `, got ${got}`}`,
  not_text: ({ got }) => `must be a string, got ${got}`,
  malformed_unicode: () => 'must be well-formed Unicode: it contains half of a surrogate pair',
  not_a_number: ({ got }) => `must be a number${got === undefined ? '' : `, got ${got}`}`,
  not_an_integer: ({ got }) => `must be a whole number${got === undefined ? '' : `, got ${got}`}`,
  not_a_boolean: ({ got }) => `must be true or false${got === undefined ? '' : `, got ${got}`}`,
  not_allowed: ({ allowed = [] }, speaker) => `must be one of: ${speaker.words(allowed)}`,
  not_an_array: ({ got }) => `must be an array${got === undefined ? '' : `, got ${got}`}`,
  not_an_object: ({ got }) => `must be an object${got === undefined ? '' : `, got ${got}`}`,
  unknown_key: () => 'is not a known field',
  duplicate: ({ got }) => `must differ between rows: ${got} is used twice`,
  out_of_range: ({ min, max }) => `must be a whole number from ${min} to ${max}`,
  too_large: ({ limit }) => `must be at most ${limit} characters`,
  invalid: ({ expected = 'valid', got }) => `must be ${expected}${got === undefined ? '' : `, got ${got}`}`,
}

/** The problem of one field, without the field's name. */
export const sayProblem = (problem: FieldProblem, speaker = new Speaker({})): string =>
  RULES[problem.rule](problem, speaker)

const ENGLISH: Required<Sentences> = {
  invalid_id: ({ field, row, rule }, speaker) =>
    `${speaker.field(field, row)} ${rule === 'taken' ? 'is already in use' : 'must be 1 to 128 characters of A-Z a-z 0-9 _ -'}.`,
  invalid_field: (data, speaker) => `${speaker.field(data.field, data.row, data.index)} ${sayProblem(data, speaker)}.`,
  batch_empty: (_, speaker) => `At least 1 ${speaker.word('task')} is needed.`,
  batch_too_large: ({ limit, got }, speaker) =>
    `At most ${limit} ${speaker.word('task')}s fit into one call, got ${got}.`,
  too_many_open: ({ limit, got }, speaker) =>
    `A conversation can have at most ${limit} open ${speaker.word('task')}s; this would make it ${got}. Settle some first.`,
  two_in_progress: (_, speaker) =>
    `Only one ${speaker.word('task')} can be ${speaker.word('in_progress').replace('_', ' ')} at a time.`,
  task_not_found: (data, speaker) => {
    const where = data.field === undefined ? '' : `${speaker.field(data.field, data.row)}: `
    return `${where}There is no ${speaker.word('task')} with this id. ${speaker.open(data)}`
  },
  task_settled: (data, speaker) =>
    `${speaker.task(data.task)} is already ${speaker.word(data.status)}. ${speaker.open(data)}`,
  status_not_allowed: ({ task, from, to, allowed }, speaker) => {
    const reopen = isSettled({ status: from }) ? ` Reopen it first: set it to ${speaker.word('pending')}.` : ''
    return `${speaker.task(task)} is ${speaker.word(from)} and cannot become ${speaker.word(to)}; it can become ${speaker.words(allowed)}.${reopen}`
  },
  outcome_required: ({ task, to }, speaker) =>
    `${speaker.task(task)} needs an ${speaker.word('outcome')} to become ${speaker.word(to)}: say ${REQUIRED_OUTCOME[to] ?? 'what is in the way'}.`,
  version_mismatch: ({ task, expected }, speaker) =>
    `${speaker.task(task)} is at version ${task.version}, not ${expected}: it has changed since.`,
  edited_by_person: ({ task, changed }, speaker) => {
    // A change to the checks concerns every model, even if its tools cannot name checks.
    const isTold = (field: (typeof EDITABLE)[number]): boolean => field === 'checks' || speaker.has(field)
    const now = EDITABLE.filter(field => Object.hasOwn(changed, field) && isTold(field)).map(field => {
      const value = field === 'checks' ? labelsOf(changed[field]) : changed[field]
      const shown = field === 'status' && typeof value === 'string' ? speaker.word(value) : value
      return `${speaker.word(field)} ${Array.isArray(value) ? 'are' : 'is'} now ${JSON.stringify(shown)}`
    })
    const what = now.length === 0 ? '' : `: ${now.join(', ')}`
    return `A person changed ${speaker.word('task')} ${speaker.id(task)} since you last saw it${what}. Your change was not made; continue from here.`
  },
  reviewed_tasks_are_fixed: ({ action }) =>
    action === 'reword'
      ? 'A reviewed task cannot be reworded. Propose the new wording as a new plan.'
      : 'A reviewed task cannot be deleted. Cancel it with an outcome if your tools allow it, or leave it to the person.',
  not_accepted: ({ task, verdict, reason }, speaker) => {
    const why = /[.!?]$/.test(reason) ? reason : `${reason}.`
    if (verdict === 'unknown') return `${speaker.task(task)} was not assessed. ${why}`
    // Skipped for an audience that has one word for both.
    const isNews = task.status === 'blocked' && speaker.word('blocked') !== speaker.word('pending')
    return `${speaker.task(task)} was not accepted: ${why}${isNews ? ` It is ${speaker.word('blocked')} now.` : ''}`
  },
  claims_spent: ({ task, by, times }, speaker) => {
    const what =
      by === 'checks' ? `claimed ${times} times while its checks failed` : `turned down ${times} times by the assessor`
    return `${speaker.task(task)} was ${what}. Further claims are refused until a person reopens it, or changes what it asks for or its checks. Leave it to them, and say in your answer what is missing.`
  },
  disputes_spent: ({ task, times }, speaker) =>
    `${speaker.task(task)} was disputed ${times} times: only a person moves it now. Go on with the others, and say in your answer what is in the way.`,
  not_disputed: ({ task }, speaker) => `${speaker.task(task)} is not disputed: there is nothing to insist on.`,
  check_failed: ({ task, check, ...run }, speaker) => {
    const blocked = task.status === 'blocked' ? ` It is ${speaker.word('blocked')} now.` : ''
    if (check === HELD_OUT) return `${speaker.task(task)} is not done: a held-out check failed.${blocked}`
    return `${speaker.task(task)} is not done: its check \`${check}\` fails${codeOf(run)}.${blocked}${outputOf(run)}`
  },
  plan_check_failed: ({ task, check, isUnclear, changes, ...run }, speaker) => {
    const open = `${speaker.task(task)} stays open: with it the plan would be over, but \`${check}\`, a check of the whole plan,`
    const uncounted = `This does not count against the ${speaker.word('task')}.`
    const again = `settle the ${speaker.word('task')} again`
    if (changes)
      return `${open} does not count, because ${changesText(changes).join(', ')} changed outside the scopes of the plan. ${uncounted} Put that back, then ${again}; or leave it to a person, who can accept the change.`
    if (isUnclear)
      return `${open} could not be run${codeOf(run)}. ${uncounted} If you changed what it needs, put that back, then ${again}; otherwise leave it to a person, who can mend it or its settings.`
    return `${open} fails${codeOf(run)}. ${uncounted} Mend it, then ${again}.${outputOf(run)}`
  },
  not_checked: ({ task, check, reason }, speaker) =>
    `${speaker.task(task)} was not checked${check === undefined ? '' : ` with \`${check}\``}: ${reason} This does not count against it.`,
  claim_open: ({ task }, speaker) => `${speaker.task(task)} is being checked. Wait for the result.`,
  check_not_found: ({ task, check_id }, speaker) => `${speaker.task(task)} has no check ${check_id}.`,
  check_not_runnable: ({ task, check, because, folder }, speaker) => {
    const why = folder === undefined ? NOT_RUNNABLE[because] : `the folder of its workspace (${folder}) is gone`
    const ways =
      folder === undefined
        ? ''
        : ' Put the folder back, or write the check again where Runsheet runs now; or remove it, or settle the task yourself.'
    return `The check \`${check}\` of ${speaker.word('task')} ${speaker.id(task)} cannot be run: ${why}.${ways}`
  },
  settled_by_person: ({ task, field }, speaker) =>
    field === undefined
      ? `A person settled ${speaker.word('task')} ${speaker.id(task)}: it cannot be deleted.`
      : `A person settled ${speaker.word('task')} ${speaker.id(task)}: its ${speaker.word(field)} stays as it is. Add another ${speaker.word('task')} if there is more to do.`,
  rejected_task_stays: ({ task, action, by }, speaker) => {
    const wayOut =
      action === 'cancel'
        ? `Set it to ${speaker.word('blocked')}, and say in its ${speaker.word('outcome')} what is in the way.`
        : 'Do it, or leave it to a person.'
    return `${speaker.task(task)} was ${TURNED_DOWN[by]} and cannot be ${PARTICIPLE[action]}. ${wayOut}`
  },
  assessor_required: ({ toolset }) =>
    toolset === null
      ? 'This turn has no assessor.'
      : `The toolset ${toolset} needs the assessor: without it no task could ever be completed.`,
  persons_only: ({ action, toolset }, speaker) => {
    if (action === 'set_policy') return 'Only a person can change the policy of a conversation.'
    if (action === 'use_route')
      return "This needs a person's token. An agent's token can read, call tools and subscribe to events."
    if (action === 'change_checks')
      return 'Only a person can change the checks of a task. Nothing was changed. Send the call again without the check, and name it in your answer if you propose one; a new task may have one.'
    if (action === 'hide_check')
      return 'Only a person can add a held-out check: `hidden` is not for agents. Nothing was changed.'
    if (action === 'create_tasks') return `Review is on: a person has to confirm new ${speaker.word('task')}s.`
    return `This conversation uses the toolset ${toolset}; only a person can change that.`
  },
  no_turn: () => 'This conversation has no turn yet for a task to join. Send a message first.',
  turn_not_found: ({ turn_id }) => `There is no turn ${turn_id} in this conversation.`,
  turn_running: ({ turn_id }) =>
    `Turn ${turn_id} is still running in this conversation. Wait for it to end, or stop it.`,
  turn_conflict: ({ turn_id }) => `Turn ${turn_id} already exists in this conversation, with a different request.`,
  turn_finished: ({ turn_id, status }) =>
    `Turn ${turn_id} is over: ${status === 'stopped' ? 'a person stopped it' : status}.`,
  no_own_turn: () =>
    'This conversation has no turn that this server ran, so there is nothing to add a message to. Start one with POST /api/chat.',
  too_many_queued: ({ limit }) =>
    `The agent has ${limit} messages still to read, and no more may wait. Send them now, or take some back.`,
  message_not_found: ({ message_id }) => `There is no queued message ${message_id} in this conversation.`,
  message_delivered: () =>
    'The agent has this message already. It can no longer be edited or taken back: send another.',
  message_withdrawn: () => 'This message was taken back already.',
  message_changed: ({ queued, expected }) =>
    `The message is at version ${queued.version}, not ${expected}: it has changed since.`,
  approval_not_found: ({ approval_id }) => `There is no approval ${approval_id} in this conversation.`,
  approval_already_decided: ({ decision }) =>
    `This call was already decided: ${decision === 'deny' ? 'not allowed' : 'allowed'}.`,
  review_not_found: ({ review_id }) => `There is no review ${review_id}.`,
  review_already_decided: ({ status }) => `This review was already decided: ${status}.`,
  review_expired: () => 'This review timed out; nothing was written.',
  review_not_reopenable: ({ status, successor }) =>
    successor === undefined
      ? `This review cannot be reopened: it is ${status}. Only a review that timed out, whose panel was closed, or that a form in an MCP host ended can be.`
      : `This review was already reopened or revised: go on with review ${successor}.`,
  review_without_deadline: () => 'This review has no deadline: it waits until it is decided.',
  not_undoable: ({ because, task, fields = [], by }, speaker) => {
    if (because !== 'changed' || !task) return NOT_UNDOABLE[because]
    const who = by === 'person' ? 'A person' : 'The agent'
    return `${who} has changed task ${speaker.id(task)} since (${speaker.words(fields)}). Nothing was undone.`
  },
  setting_locked: ({ field, by }) =>
    `${field} is set by ${by} of the server, which takes precedence. Start it without ${by} to change it here.`,
  too_many_reviews: ({ limit }, speaker) =>
    `This turn has already proposed ${limit} plans, and no more are allowed. Work on the ${speaker.word('task')}s that were confirmed, or tell the person what is missing.`,
}

function codeOf({ exit, reason }: { readonly exit?: number; readonly reason?: string }): string {
  if (reason !== undefined) return `: ${reason.replace(/\.$/, '')}`
  return exit === undefined ? '' : ` with exit code ${exit}`
}

const outputOf = ({ tail }: { readonly tail?: string }): string => (tail ? ` The end of its output:\n${tail}` : '')

const REQUIRED_OUTCOME: Readonly<Record<string, string>> = {
  completed: 'what was done',
  disputed: 'why, and what was tried',
}

const NOT_RUNNABLE = {
  person: 'a person ticks it',
  unapproved: 'no person has approved it',
  no_workspace: 'its turn has no workspace',
} as const

const NOT_UNDOABLE = {
  unknown: 'This task has no such change. Send the version that the change led to.',
  not_persons: 'Only what a person changed can be undone.',
  changed: 'The task has changed since. Nothing was undone.',
  removed: 'The task was removed since. Undo that first.',
  listed: 'The task is back already.',
  too_old: 'Too many tasks were removed since: this one cannot be brought back.',
} as const

/** The source of a rejection, to follow "was". */
export const TURNED_DOWN = {
  checks: 'refused by its checks',
  assessor: 'rejected by the assessor',
  approval: 'given a check that has not passed',
} as const

const PARTICIPLE = { reword: 'reworded', delete: 'deleted', cancel: 'cancelled' } as const

const labelsOf = (checks: unknown): readonly string[] => ((checks ?? []) as readonly Check[]).map(labelOf)
