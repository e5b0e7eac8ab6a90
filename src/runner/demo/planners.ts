export interface Call {
  readonly tool: string
  readonly input: unknown
}

export interface PlannedStep {
  readonly title: string
  readonly check?: string
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

export const PLANNERS: Readonly<Record<string, Planner>> = {
  plan: {
    plan: steps => [{ tool: 'plan', input: { tasks: steps } }],
    settle: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome } }),
    putAside: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome, status: 'blocked' } }),
  },
  add_task: {
    plan: steps => [{ tool: 'add_task', input: { tasks: steps } }],
    settle: (id, outcome) => ({ tool: 'complete_task', input: { id, outcome } }),
    putAside: (id, outcome) => ({ tool: 'update_task', input: { id, status: 'blocked', outcome } }),
  },
  create_todo: {
    plan: steps => [{ tool: 'create_todo', input: { items: steps } }],
    settle: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome } }),
    putAside: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome, status: 'cancelled' } }),
  },
  add_multiple_checklist_items: {
    plan: steps => [{ tool: 'add_multiple_checklist_items', input: { items: titled(steps) } }],
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

const titled = (steps: readonly PlannedStep[]): { title: string }[] => steps.map(({ title }) => ({ title }))
