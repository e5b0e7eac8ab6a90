export interface Call {
  readonly tool: string
  readonly input: unknown
}
export interface PlannedStep {
  readonly title: string
  readonly check?: string
  readonly scope?: readonly string[]
}

interface Planner {
  readonly plan: (steps: readonly PlannedStep[]) => readonly Call[]
  /** Absent where a text settles the step. */
  readonly settle?: (id: string, outcome: string) => Call
  /** Absent where an impossible step is left open. */
  readonly putAside?: (id: string, reason: string) => Call
  /** Whether outcomes go into the text, because `settle` has no field for them. */
  readonly saysOutcome?: boolean
}

/** The planning tool of each toolset, and how its steps are settled. */
export const PLANNERS: Readonly<Record<string, Planner>> = {
  plan: {
    plan: tasks => [{ tool: 'plan', input: { tasks } }],
    settle: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome } }),
    putAside: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome, status: 'blocked' } }),
  },
  add_task: {
    plan: tasks => [{ tool: 'add_task', input: { tasks } }],
    settle: (id, outcome) => ({ tool: 'complete_task', input: { id, outcome } }),
    putAside: (id, outcome) => ({ tool: 'update_task', input: { id, status: 'blocked', outcome } }),
  },
  create_todo: {
    plan: items => [{ tool: 'create_todo', input: { items } }],
    settle: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome } }),
    putAside: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome, status: 'cancelled' } }),
  },
  add_multiple_checklist_items: {
    plan: steps => [{ tool: 'add_multiple_checklist_items', input: { items: steps.map(({ title }) => ({ title })) } }],
    settle: id => ({ tool: 'update_checklist_items', input: { items: [{ id, isChecked: true }] } }),
    saysOutcome: true,
  },
  AddTask: {
    plan: steps => steps.map(({ title }) => ({ tool: 'AddTask', input: { title } })),
    settle: taskId => ({ tool: 'CompleteTask', input: { taskId } }),
    saysOutcome: true,
  },
  manage_todos: { plan: steps => [{ tool: 'manage_todos', input: { add: steps.map(({ title }) => title) } }] },
}

export interface Step {
  readonly id: string
  readonly title: string
}
export interface Standing {
  /** The current step first. */
  readonly open: readonly Step[]
  readonly settled: readonly (Step & { readonly isDone: boolean; readonly outcome: string })[]
  /** Whether the current step has details or criteria besides its title. */
  readonly hasDetails: boolean
}

/** Reads the digest from its last line backwards, because the request, which comes first, may look like one itself. */
export function standingIn(system: string): Standing | undefined {
  const lines = system.split('\n')
  let at = lines.findLastIndex(line => /^\d+ (?:remaining|open)\.$/.test(line))
  if (at < 0) return undefined
  const sections = new Map<string, string[]>()
  for (const name of ['Open:', 'Next:', 'Now:', 'Settled:']) {
    const end = at
    while (/^(?:- | {2})/.test(lines[at - 1] ?? '')) at -= 1
    if (lines[at - 1] === name) {
      sections.set(name, lines.slice(at, end))
      at -= 1
    } else at = end
  }
  const of = (name: string): string[] => sections.get(name) ?? []
  return {
    open: [...of('Now:'), ...of('Next:'), ...of('Open:')].flatMap(stepIn),
    settled: of('Settled:').flatMap(settledIn),
    hasDetails: of('Now:').some(line => line.startsWith('  ')),
  }
}

function stepIn(line: string): Step[] {
  const [, id, title] = /^- (?!and \d+ more$)(\S+) (.+)$/.exec(line) ?? []
  return id === undefined || title === undefined ? [] : [{ id, title }]
}

/** The toolsets' words for completed come first. */
const SETTLED = /^(.+?) \((?:(completed|done|ticked)|blocked|cancelled|removed|unticked|not done)(?:: (.*))?\)$/

function settledIn(line: string): Standing['settled'] {
  return stepIn(line).flatMap(({ id, title: rest }) => {
    const [, title, done, outcome = ''] = SETTLED.exec(rest) ?? []
    return title === undefined ? [] : [{ id, title, isDone: done !== undefined, outcome }]
  })
}
