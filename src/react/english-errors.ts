import type { FieldProblem } from '../domain/refusal.ts'
import type { ErrorStrings } from './error-text.ts'

/** “at most 400 characters (now 401)”, as far as the numbers are known. */
function atMost({ limit, got }: Pick<FieldProblem, 'limit' | 'got'>, unit: string): string | undefined {
  if (limit === undefined) return undefined
  return `at most ${limit}${unit}${typeof got === 'number' ? ` (now ${got})` : ''}`
}

export const englishErrors: ErrorStrings = {
  byCode: {
    unreachable: () => 'The server cannot be reached.',
    upgrade_required: () => 'The server has a different version. Reload the page.',
    unauthorized: () => 'You are not signed in.',
    persons_only: () => 'Only a person can do this.',
    rate_limited: () => 'Too many requests. Try again in a moment.',
    too_many_streams: () => 'Too many windows are open on this server. Close one and try again.',
    body_too_large: () => 'This is too much text to send at once.',
    not_implemented: () => 'This server has no model of its own. Use it from another agent.',
    internal: () => 'Something went wrong on the server. Its log has the details.',
    busy: () => 'The server is busy. Try again in a moment.',
    io: () => 'The server could not save this. Try again in a moment.',
    file_invalid: ({ file }) =>
      `The task file${file === undefined ? '' : ` ${file}`} is not valid. Nothing was changed. Repair it or remove it, then try again.`,
    full: () => 'The server is out of disk space.',
    readonly: () => 'The server cannot write to its data folder.',
    closed: () => 'The server is shutting down. Try again in a moment.',
    session_not_found: () => 'This conversation does not exist.',
    template_not_found: () => 'This template does not exist.',
    template_exists: () => 'There is a template with this name already.',
    settings_changed: () => 'These settings have just changed. You are looking at the latest version now.',
    settings_unreadable: () => 'settings.json is not valid. Remove it and try again.',
    settings_not_saved: () => 'The server could not save this. Nothing was changed.',
    setting_locked: ({ by }) => `${by ?? 'The server'} sets this.`,
    batch_empty: () => 'A plan needs at least one step.',
    batch_too_large: data => `The plan has too many steps: ${atMost(data, '') ?? 'remove some'}.`,
    too_many_open: data => `This conversation has too many open tasks: ${atMost(data, '') ?? 'finish some first'}.`,
    two_in_progress: () => 'Only one task can be “Doing”.',
    task_not_found: () => 'This task no longer exists.',
    task_settled: () => 'This task is already finished. Reopen it first.',
    status_not_allowed: ({ from, to, allowed = [] }, status) => {
      if (!from || !to) return 'This task cannot change to that status.'
      const possible = allowed.length > 0 ? ` Possible: ${allowed.map(each => status[each]).join(', ')}.` : ''
      return `A task that is ${status[from]} cannot become ${status[to]}.${possible}`
    },
    outcome_required: () => 'Add an outcome first.',
    version_mismatch: () => 'This task has just changed. You are looking at the latest version now.',
    check_not_found: () => 'This check no longer exists.',
    check_not_runnable: ({ because }) =>
      because === 'unapproved' ? 'This check has to be approved first.' : 'This check cannot be run here.',
    no_turn: () => 'Send a message first: there is no plan to add this task to.',
    turn_not_found: () => 'This turn no longer exists.',
    turn_running: () => 'The agent is still working. Stop it or wait until it is done.',
    turn_conflict: () => 'This request was already sent with different content.',
    turn_finished: () => 'This turn has already ended.',
    no_own_turn: () => 'There is no agent to write to. Send a new message.',
    too_many_queued: data => `Too many messages are waiting: ${atMost(data, '') ?? 'take some back'}.`,
    message_not_found: () => 'This message no longer exists.',
    message_delivered: () => 'The agent already has this message.',
    message_withdrawn: () => 'This message was already taken back.',
    message_changed: () => 'This message has just changed. You are looking at the latest version now.',
    approval_not_found: () => 'This request no longer exists.',
    approval_already_decided: () => 'This call has already been decided.',
    review_not_found: () => 'This review no longer exists.',
    review_already_decided: () => 'This plan has already been decided.',
    review_expired: () => 'The review timed out.',
    review_not_reopenable: ({ successor }) =>
      successor === undefined ? 'This plan cannot be reopened.' : 'This plan was already reopened.',
    review_without_deadline: () => 'This review has no deadline.',
    not_undoable: ({ because, by }) => {
      if (because === 'changed') return `${by === 'person' ? 'Someone' : 'The agent'} has changed this task since.`
      if (because === 'removed') return 'This task was removed since.'
      return because === 'too_old' ? 'Too many tasks were removed since.' : 'This can no longer be undone.'
    },
  },
  field: {
    row: 'The step',
    title: 'Title',
    details: 'Details',
    criteria: '“Done when”',
    priority: 'Priority',
    status: 'Status',
    tags: 'Tags',
    outcome: 'Outcome',
    position: 'Position',
    comment: 'Comment',
    name: 'Name',
    base_url: 'Base URL',
    key: 'Key',
    assessor_model: 'Judge model',
    review_timeout_ms: 'Deadline',
    message: 'Message',
    text: 'Message',
    model: 'Model',
    q: 'Search',
    check: 'The check',
    may_change: '“May edit”',
  },
  check: expected => `The check must be ${expected ?? 'one command that can fail'}.`,
  byRule: {
    required: field => `${field} is required.`,
    empty: field => `${field} cannot be empty.`,
    too_long: (field, data) => `${field}: ${atMost(data, ' characters') ?? 'too long'}.`,
    too_few: (field, { limit }) => `${field}: ${limit === undefined ? 'too few' : `at least ${limit}`}.`,
    too_many: (field, data) => `${field}: ${atMost(data, '') ?? 'too many'}.`,
    not_text: field => `${field} must be text.`,
    malformed_unicode: field => `${field}: contains a damaged character.`,
    not_a_number: field => `${field} must be a number.`,
    not_an_integer: field => `${field} must be a whole number.`,
    not_a_boolean: field => `${field} must be true or false.`,
    not_allowed: (field, { allowed = [] }) =>
      allowed.length > 0 ? `${field} must be one of: ${allowed.join(', ')}.` : `${field}: this value is not allowed.`,
    not_an_array: field => `${field} must be a list.`,
    not_an_object: field => `${field} must be an object.`,
    unknown_key: field => `${field}: unknown field.`,
    duplicate: field => `${field}: used more than once.`,
    out_of_range: (field, { min, max }) =>
      min === undefined || max === undefined ? `${field}: out of range.` : `${field} must be from ${min} to ${max}.`,
    too_large: field => `${field} is too large.`,
    invalid: field => `${field}: please check this value.`,
  },
}
