const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const hints = <C extends string>(
  failures: Readonly<Record<C, readonly [title: string, hint: (setting: string) => string]>>,
): typeof failures => failures

/** The English strings of a thread. Kept in a file of their own, so that pages without a thread do not load them. */
export const englishThread = {
  /** The outcome of a plan that was not approved. */
  decided: {
    rejected: 'You rejected this plan',
    changes_requested: 'You asked for changes',
    timed_out: 'Time ran out. Nothing was started.',
    closed: 'You left before deciding. Nothing was started.',
    stopped: 'Stopped before you decided. Nothing was started.',
    superseded: 'Replaced by a newer plan',
  },
  approved: (steps: number) => `You approved ${plural(steps, 'step')}`,
  edited: (rows: number) => `${rows} edited`,
  added: (rows: number) => `${rows} added`,
  removed: (rows: number) => `${rows} removed`,
  reordered: 'reordered',
  comments: (rows: number) => plural(rows, 'comment'),
  /** Follows a check. */
  notApproved: 'not approved, not run',
  continuedLater: 'You had reopened it.',
  /** Starts a turn that continues a reopened plan, by the decision on it. */
  continued: {
    approved: 'The agent goes on with the plan you approved.',
    changes_requested: 'The agent changes the plan, as you asked.',
  },
  quoted: (comment: string) => `“${comment}”`,
  /** The change to a row. */
  row: { edited: 'Edited', added: 'Added', removed: 'Removed' },
  removedStep: 'removed',
  /** A tool by its action, when done and while running. The subject follows. */
  use: {
    read: ['Read', 'Reading'],
    write: ['Wrote', 'Writing'],
    edit: ['Edited', 'Editing'],
    list: ['Listed', 'Listing'],
    search: ['Searched for', 'Searching for'],
    run: ['Ran', 'Running'],
    fetch: ['Fetched', 'Fetching'],
    delete: ['Deleted', 'Deleting'],
    move: ['Moved', 'Moving'],
    compute: ['Computed', 'Computing'],
  } satisfies Readonly<Record<string, readonly [done: string, doing: string]>>,
  /** Any other tool. */
  used: (tool: string) => `Used ${tool}`,
  using: (tool: string) => `Using ${tool}`,
  useFailed: 'failed',
  /** A tool call that waits for approval. */
  approval: {
    /** Before the tool's name. */
    asks: 'The agent wants to use',
    /** After the tool's name. */
    of: (server: string) => `of ${server}`,
    allow: 'Allow once',
    always: 'Always allow',
    deny: 'Deny',
    noInput: 'It passes nothing.',
    readOnly: 'The server says that this tool only reads. That is its own word.',
    changed: {
      tool: 'You always allowed this tool. Since then it has changed: its description, or what it takes. So you are asked again.',
      server:
        'You always allowed this tool. Since then its server is started or reached in another way. So you are asked again.',
    },
    notSaved: (why: string) => `Allowed this once. “Always” could not be saved: ${why}`,
    /** Status of a call in the thread. */
    waits: 'waiting for you',
    denied: 'not allowed',
  },
  input: 'Input',
  output: 'Output',
  noOutputYet: 'No output yet.',
  /** A call without an answer because its turn ended: its status, and its output. */
  unanswered: ['stopped · outcome unknown', 'Stopped before it answered. It may or may not have happened.'] satisfies [
    string,
    string,
  ],
  outputFailed: 'The output could not be loaded.',
  verdict: { ok: 'Accepted', not_ok: 'Not accepted', unknown: 'No verdict' },
  /** A line with a leading label. */
  about: (label: string, text: string) => `${label}: ${text}`,
  claimed: 'Reported as done',
  /** The same while the claim is being checked. */
  claimWaits: 'Reported as done (being checked)',
  /** A truncated answer; `characters` is its length, already formatted. */
  cut: {
    too_long: (characters: string) => `Cut off here, after ${characters} characters: an answer can have at most 1 MB.`,
    output_limit: (characters: string) =>
      `Cut off here, after ${characters} characters: the model reached its output limit.`,
    content_filter: (characters: string) =>
      `Cut off here, after ${characters} characters, by the provider’s content filter.`,
  },
  followedUp: (times: number) =>
    times === 1 ? 'Asked once to finish the plan' : `Asked ${times} times to finish the plan`,
  stopped: 'Stopped',
  notFinished: 'Not finished',
  /** Why a turn ended early. */
  because: {
    budget: 'It reached its limit of model calls.',
    gate: 'No progress after 3 attempts.',
    limit: 'It reached its limit of steps in a row.',
    unjudged: 'The assessor gave no clear verdict, and unjudged work does not count as done.',
    unchecked: 'The checks could not run again: start Runsheet where the files are, then continue.',
    repeats: 'It kept repeating the same calls.',
    rejected: 'Three plans in a row were rejected. Say what you would like instead.',
  },
  retryBlocked: 'Retry blocked',
  failed: 'Something went wrong',
  openSettings: 'Open settings',
  /** Failures by code. `failureAnswer` follows: the provider's status, the URL and the provider's message. */
  failureSays: {
    provider_unreachable: 'The model could not be reached',
    provider_denied: "The model's provider refused",
    provider_refused: "The model's provider refused",
    provider_busy: "The model's provider is busy",
    provider_failed: "The model's provider failed",
    answer_too_long: "The model's provider sent too much",
    context_too_long: 'The conversation is too long for this model',
  },
  failureAnswer: (status: string, url: string, said: string) =>
    `${status === '' ? '' : ` (${status})`}${url === '' ? '' : ` at ${url}`}: ${said}`,
  modelChanged: (before: string, now: string) =>
    `The settings have changed since this turn began: ${before} is not reached any more where it was then. The model is now ${now}.`,
  /** Failures by code: what happened, what to do, and the environment variable that may be wrong. */
  failures: hints({
    provider_unreachable: [
      'The model cannot be reached',
      setting => `Check that it is running and that its URL is right (in the settings, or ${setting}), then retry.`,
    ],
    provider_denied: [
      'The provider refused the key',
      setting => `Change the key in the settings, or set ${setting} or the provider’s own variable, then retry.`,
    ],
    provider_refused: [
      'The provider refused the request',
      setting => `Check the model’s name and URL (in the settings, or ${setting}), or choose another model below.`,
    ],
    provider_busy: [
      'The provider is busy',
      () => 'Wait a moment, then retry. If it goes on, look at your plan’s limits.',
    ],
    provider_failed: ['The provider failed', () => 'Wait a moment, then retry.'],
    model_unknown: [
      'This model is not set up',
      setting => `Choose another model below, or set it up (in the settings, or ${setting}).`,
    ],
    model_changed: ['The settings have changed', () => 'Retry to go on with the model of today.'],
    answer_too_long: ['The answer was too long', () => 'Ask for less at once.'],
    context_too_long: [
      'The conversation is too long for this model',
      setting => `Start a new conversation, or choose a model with a larger context (in the settings, or ${setting}).`,
    ],
    empty_answer: ['The model gave no answer', () => 'Retry, or choose another model below.'],
    internal_error: [
      'The server failed',
      () => 'Its log has the details. If it cannot save, look at its disk, then retry.',
    ],
  }),
}

/** The English sentences of the timeline. */
export const englishEvents = {
  /** A sentence, followed by its actor. */
  signed: (sentence: string, actor: string) => `${sentence} (${actor})`,
  created: (title: string) => `Added: ${title}`,
  removed: (title: string) => `Removed: ${title}`,
  accepted: (title: string, judge: string) => `${title}: accepted as done (${judge})`,
  rejected: (title: string, judge: string, reason: string) => `${title}: not accepted (${judge}): ${reason}`,
  notAssessed: (title: string, judge: string) => `${title}: not assessed (${judge})`,
  checkApproved: (title: string, check: string) => `${title}: ${check} approved`,
  checkRan: (title: string, check: string, result: string) => `${title}: ${check} ${result}`,
  ranBecause: {
    baseline: 'before the work',
    claim: 'reported as done',
    final: 'before the plan ended',
    person: 'you asked',
  },
  changesAccepted: (title: string, paths: string) => `${title}: changes accepted to ${paths}`,
  disputed: (title: string, reason: string) => `${title}: disputed: ${reason}`,
  /** How a dispute ended. */
  disputeEnded: {
    changed: (title: string, _status: string) => `${title}: changed after the dispute`,
    settled: (title: string, status: string) => `${title}: dispute settled → ${status}`,
    insisted: (title: string, _status: string) => `${title}: insisted on after the dispute`,
    withdrawn: (title: string, status: string) => `${title}: dispute withdrawn → ${status}`,
  },
  checkTicked: (title: string, check: string) => `${title}: ticked “${check}”`,
  /** The actor of approvals by the configuration. */
  configuration: 'configuration',
  /** A task that no longer exists. */
  unknownTask: 'A task',
  proposed: (titles: string) => `Proposed: ${titles}`,
  reopened: (titles: string) => `Review reopened (you): ${titles}`,
  /** A person extended a review's deadline. */
  extended: 'More time to decide (you)',
  confirmed: 'Plan confirmed',
  /** The outcome of a plan that was not confirmed, by reason; other reasons use `notConfirmed`. */
  notConfirmedBecause: {
    user_cancelled: 'Plan rejected',
    review_timeout: 'Time ran out; nothing was started',
    panel_closed: 'Page closed before a decision',
    turn_stopped: 'Stopped before a decision',
    changes_requested: 'Changes requested',
    superseded: 'Replaced by a newer plan',
  },
  notConfirmed: 'Plan not confirmed',
  /** The actor of a task that the agent proposed and a person confirmed. */
  confirmedByPerson: 'agent, confirmed by you',
}
