import type { FieldProblem } from '../../../core/model/refusal.ts'
import type { RowField } from '../../../core/model/row.ts'
import type { ErrorStrings } from './error-text.ts'

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** “at most 400 characters (now 401)”, as far as the numbers are known. */
function atMost({ limit, got }: Pick<FieldProblem, 'limit' | 'got'>, unit: string): string | undefined {
  if (limit === undefined) return undefined
  return `at most ${limit}${unit}${typeof got === 'number' ? ` (now ${got})` : ''}`
}

const fields = {
  title: 'Title',
  details: 'Details',
  criteria: 'Done when',
  priority: 'Priority',
  status: 'Status',
  tags: 'Tags',
  checks: 'Checks',
  scope: 'May change',
} satisfies Readonly<Record<RowField, string>>

const errors: ErrorStrings = {
  byCode: {
    unreachable: () => 'The server cannot be reached.',
    upgrade_required: () => 'The server has a different version. Reload the page.',
    unauthorized: () => 'You are not signed in.',
    persons_only: () => 'Only a person can do this.',
    rate_limited: () => 'Too many requests. Try again in a moment.',
    too_many_requests: () => 'Too many windows are open on this server. Close one and try again.',
    body_too_large: () => 'This is too much text to send at once.',
    not_implemented: () => 'This server has no model of its own. Use it from another agent.',
    unsupported: () => 'This server keeps plans in memory and cannot do this.',
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
    not_disputed: () => 'This task is no longer disputed.',
    not_undoable: ({ because, by }) => {
      if (because === 'changed') return `${by === 'person' ? 'Someone' : 'The agent'} has changed this task since.`
      if (because === 'removed') return 'This task was removed since.'
      return because === 'too_old' ? 'Too many tasks were removed since.' : 'This can no longer be undone.'
    },
  },
  field: {
    ...fields,
    row: 'The step',
    criteria: '“Done when”',
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
    scope: '“May change”',
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

/** The English strings of the panels. */
export const english = {
  /** BCP 47 language tag, for dates and times. */
  locale: 'en',

  plan: 'Plan',
  showPlan: 'Show the plan',
  hidePlan: 'Hide the plan',
  progress: (done: number, total: number) => `${done} of ${total} done`,
  remaining: (count: number) => `${count} remaining`,
  blocked: (count: number) => `${count} blocked`,
  disputed: (count: number) => `${count} disputed`,
  cancelled: (count: number) => `${count} cancelled`,
  more: (count: number) => `+${count} more`,
  elapsed: (time: string) => `Running for ${time}`,
  unfinished: (count: number) => `Not finished: ${count} left`,
  stepLimitReached: (count: number) => `Step limit reached: ${count} left`,
  seconds: (seconds: string) => `${seconds} s`,
  allDone: (steps: number) => (steps === 1 ? '1 step done' : `All ${steps} steps done`),
  doneSteps: (steps: number) => `${steps} done`,
  leftSteps: (steps: number) => `${steps} left`,
  continueTurn: 'Continue',
  addTask: 'Add task',
  newTask: 'New task',
  edit: 'Edit',
  rename: 'Rename',
  markDone: 'Mark as done',
  reopen: 'Reopen',
  cancelTask: 'Cancel task',
  moreActions: 'More actions',
  unseenByAgent: 'The agent has not seen this change yet',
  unseenByAgentShort: 'not seen by agent yet',

  moveUp: 'Move up',
  moveDown: 'Move down',
  drag: 'Drag to reorder',
  movedTo: (position: number, count: number) => `Moved to ${position} of ${count}`,
  remove: 'Remove',
  removed: (title: string) => `Removed: ${title}. Press Ctrl+Z to undo.`,
  undone: 'Undone.',
  redone: 'Done again.',
  save: 'Save',
  discard: 'Discard',
  retry: 'Retry',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  sending: 'Sending…',
  notLoaded: 'This part of the page could not be loaded.',
  reload: 'Reload the page',

  status: {
    pending: 'to do',
    in_progress: 'in progress',
    completed: 'done',
    blocked: 'blocked',
    cancelled: 'cancelled',
  },
  rowStatus: { todo: 'To do', doing: 'Doing', blocked: 'Blocked', done: 'Done' },
  priority: { high: 'High', medium: 'Medium', low: 'Low' },

  review: 'Review the plan',
  reviewPending: (tasks: number) => `A plan with ${plural(tasks, 'step')} is waiting for your review.`,
  timeLeft: (time: string) => `${time} left, then nothing is started`,
  moreTime: 'More time',
  fields,
  byCommas: (field: string) => `${field}, separated by commas`,
  separatedByCommas: 'separated by commas',
  moreFields: 'More fields',
  fewerFields: 'Fewer fields',
  addRow: 'Add step',
  selectRow: (row: number) => `Select step ${row}`,
  selected: (count: number) => `${count} selected`,
  setTags: 'Set tags',
  tagsSet: (rows: number) => `Tags set in ${plural(rows, 'step')}`,
  comment: 'Tell the agent what to change…',
  /** A person's comment on one row. */
  rowComment: 'Comment on this step',
  confirm: (steps: number) => `Approve ${plural(steps, 'step')}`,
  cancel: 'Reject',
  requestChanges: 'Request changes',
  sayWhatToChange: 'Say what to change.',
  /** Shown if a plan differs from the one that was sent back. */
  revised: 'The agent changed the plan.',
  noTitle: (row: number) => `Step ${row} has no title.`,
  noRows: 'Add at least one step, or reject the plan.',
  tooManyRows: (limit: number) => `A plan can have at most ${limit} steps.`,
  rowNeedsFixing: (row: number) => `Step ${row} needs fixing.`,
  failedToSend: 'Could not send. Your edits are still here.',
  askCancel: 'Reject this plan?',
  askDiscard: 'Discard your edits and reject this plan?',
  cancelPlan: 'Reject',
  keepEditing: 'Keep editing',
  earlierEdits: 'Restore your earlier edits?',
  restoreEdits: 'Restore',
  reviewing: {
    /** Follows the heading. */
    steps: (count: number) => plural(count, 'step'),
    /** Beside the heading: other pending plans of the conversation. */
    othersWait: (plans: number) => `${plans} more ${plans === 1 ? 'plan' : 'plans'} to review after this one`,
    stepsAbove: (count: number) => `${count} more above`,
    stepsBelow: (count: number) => `${count} more below`,
    undo: 'Undo',
    redo: 'Redo',
    edited: (steps: number) => `${steps} edited`,
    added: (steps: number) => `${steps} added`,
    removed: (steps: number) => `${steps} removed`,
    reordered: 'reordered',
    resetAll: 'Reset all',
    reset: 'Reset',
    /** The person's change to a step. */
    change: { edited: 'edited by you', added: 'added by you', moved: 'moved by you', removed: 'removed by you' },
    /** The agent's change to a step since the previous plan. */
    revision: { edited: 'changed', new: 'new', moved: 'moved' },
    /** Shown if a plan equals the one that was sent back. */
    unrevised: 'The agent proposes the plan as you sent it back.',
    /** Between that sentence and the requested changes. */
    youAsked: ' You asked: ',
    aboutStep: (title: string, comment: string) => `${title}: ${comment}`,
    /** Shown if no new plan followed a request for changes. */
    unanswered: 'You asked for changes, but no new plan came. Nothing was started.',
    noLongerPlanned: 'No longer in the plan',
    rejected: 'You rejected this plan.',
    rejectedIn: (seconds: number) => `The agent is told in ${seconds} s.`,
    select: 'Select',
    selectAll: 'Select all',
    clearSelection: 'Clear selection',
    deleteSelected: 'Delete',
    stepsRemoved: (count: number) => `${plural(count, 'step')} removed. Press Ctrl+Z to undo.`,
    nextCheck: 'Show next',
    /** For a single remaining check. */
    showCheck: 'Show it',
  },
  templates: {
    title: 'Templates',
    open: 'Templates…',
    none: 'No templates yet. Save the steps of a plan to use them again.',
    insert: (steps: number) => `Insert ${plural(steps, 'step')}`,
    rename: 'Rename',
    remove: 'Delete',
    removed: (name: string) => `Deleted “${name}”.`,
    saveAs: (steps: number) => `Save the ${plural(steps, 'step')} of this plan as a template`,
    name: 'Template name',
    saved: (name: string) => `Saved as “${name}”.`,
    exists: (name: string) => `“${name}” already exists.`,
    replace: 'Replace',
  },

  outcome: { pending: 'pending', confirmed: 'approved', cancelled: 'rejected', expired: 'timed out' },
  decidedElsewhere: (outcome: string) => `This plan was ${outcome} elsewhere.`,
  agentStopped: 'The agent was stopped before you decided. No tasks were added.',
  pageClosed: 'You left before deciding. The plan is still here.',
  timedOut: (hasEdits: boolean) => `Time ran out. Nothing was started${hasEdits ? '; your edits are saved.' : '.'}`,
  superseded: 'A newer plan replaced this one.',
  changesRequestedElsewhere: 'Changes to this plan were requested elsewhere.',
  editsSaved: 'Your edits are saved.',
  editsNotSent: 'Your edits were not sent.',
  yourEdits: 'Your edits',

  checks: {
    count: (checks: number) => plural(checks, 'check'),
    /** The kind of a check, as the label of its text. */
    kind: { command: 'Check', file: 'File exists', absent: 'No file', unchanged: 'Unchanged', person: 'You look' },
    exists: (path: string) => `${path} exists`,
    isAbsent: (path: string) => `${path} does not exist`,
    isUnchanged: (paths: string) => `${paths} unchanged`,
    inFolder: (folder: string) => `in ${folder}`,
    exitCode: (code: number) => `exit ${code}`,
    exits: (code: number) => `exits with ${code}`,
    contains: (text: string) => `contains “${text}”`,
    within: (seconds: number) => `within ${seconds} s`,
    /** Above the checks of the whole plan. */
    atTheEnd: 'Before the plan ends',
    /** For a plan that proposes checks but has no workspace; the option that sets one follows. */
    leftOut: 'The agent proposed checks, but there is no folder to run them in. Name one at the start',
    add: 'Add a check',
    addHidden: 'Add a held-out check',
    /** A check that agents do not see, for people. */
    heldOut: (check: string) => `held out: ${check}`,
    /** Follows the standing of a step. */
    heldOutCount: (count: number) => `, ${count} held out`,
    addInput: (example: string) => `A command, such as ${example}`,
    /** The glob `**`. */
    anyFile: 'any file',
    /** Before globs of protected files, each with a switch. */
    asksScope: 'Also asks to change files that decide its checks',
    scopeInput: (example: string) => `Files that it may change, such as ${example}`,
    approve: 'Run this check',
    approveOne: 'Approve',
    approved: (approved: number, count: number) => `${approved} of ${plural(count, 'check')} approved`,
    /** For a plan or a step. */
    notApproved: (count: number) => `${plural(count, 'check')} not approved`,
    willNotRun: (count: number) => `${count} will not run`,
    isOwn: 'runs: you wrote it',
    isAllowed: 'allowed by your configuration',
    state: {
      waiting: 'not run yet',
      queued: 'waiting to run',
      unticked: 'waits for you',
      unapproved: 'not approved',
      running: 'running',
      passed: 'passed',
      failed: 'failed',
      inconclusive: 'inconclusive',
      stale: 'passed before the files changed',
    },
    /** A check's finding about its task, where its state does not express it. */
    finding: {
      ticked: 'you ticked it',
      reworded: 'approved for other words: proves nothing',
      proves: 'failed before, passes now',
      passed_already: 'passes already: guards only',
      proves_other: 'proves another step: guards only here',
      never_failed: 'not seen to fail at the start: guards only',
      not_seen: 'no claim saw it turn: guards only',
    },
    run: 'Run',
    runAgain: 'Run again',
    stop: 'Stop',
    tick: 'Tick',
    output: 'Output',
    showOutput: 'Show output',
    noOutput: 'No output',
    failsNow: 'fails now',
    filesChanged: 'files changed',
    changedOutside: 'Changed outside its scope. It proves nothing until you accept:',
    ownTestsChanged: 'It changed its own tests. It proves nothing until you accept:',
    fromGit: (files: number) => `from git: ${plural(files, 'file')}`,
    acceptOne: 'Accept',
    acceptChanges: 'Accept changes',
    acceptRest: 'Accept the rest',
    /** Completes a task that the judge or a check did not accept. */
    acceptAnyway: 'Accept anyway',
    /** Confirms a task that is already done. */
    confirm: 'Confirm',
    checking: (check: string) => `checking: ${check}`,
    waitsForYou: 'waits for you',
    /** Why a completed task counts as done, in one word. */
    standing: { proven: 'proven', confirmed: 'confirmed', judged: 'judged', reported: 'reported' },
    /** The same as a sentence. */
    standingReason: {
      proven: 'Proven: a check failed before the work and passes now.',
      confirmed: 'Confirmed: you settled it.',
      judged: 'Judged: the assessor accepted it.',
      reported: 'Reported: only the agent says so.',
    },
    /** The number of tasks with each standing. */
    standingCount: {
      proven: (count: number) => `${count} proven`,
      confirmed: (count: number) => `${count} confirmed by you`,
      judged: (count: number) => `${count} judged`,
      reported: (count: number) => `${count} on the agent's word`,
    },
    tally: (done: number, total: number, standings: readonly string[]) =>
      `${done} of ${total} done: ${standings.join(', ')}`,
  },
  evidence: {
    title: 'Evidence',
    verdicts: 'Verdicts',
    verdict: { ok: 'accepted', not_ok: 'not accepted', unknown: 'no verdict' },
    noReason: 'No reason given',
    cites: (calls: number) => `cites ${plural(calls, 'call')}`,
    uncited: 'cites nothing',
    onWordsAlone: 'on words alone',
    fenced: 'no effect: you changed the task meanwhile',
    succeeded: 'succeeded',
    /** The reporter of an outside tool call. */
    says: { host: 'host says', agent: 'agent says' },
    leftOut: (calls: number) => `${plural(calls, 'more call')} not shown`,
    tryAgain: 'Try again',
  },

  dispute: {
    name: 'Dispute',
    badge: 'disputed',
    /** Before the agent's reason. */
    says: (agent: string | null, count: number) =>
      `${agent ?? 'The agent'} says that this cannot be done as asked, or that its check is wrong${count > 1 ? ' (for the second time)' : ''}. It waits for you.`,
    changeCheck: 'Change the check',
    settle: 'Settle as done',
    insist: 'Insist',
    comment: 'Comment for the agent (optional)',
  },

  history: 'History',
  timeline: {
    list: (changes: readonly string[]) => changes.join(', '),
    changed: (title: string, changes: string) => `${title}: ${changes}`,
    /** A check that no longer exists, or one of the whole plan. */
    unknownCheck: 'a check',
    wholePlan: 'Whole plan',
    actor: { model: 'agent', person: 'you', assessor: 'assessor', file: 'file', system: 'automatic' },
    /** A changed field; fields that are not listed are not mentioned. */
    field: {
      title: 'title changed',
      details: 'details changed',
      criteria: '“done when” changed',
      priority: 'priority changed',
      tags: 'tags changed',
      outcome: 'outcome changed',
      checks: 'checks changed',
      scope: '“may change” changed',
      position: 'moved',
      removed_at: 'restored',
    },
  },
  errors,
}
