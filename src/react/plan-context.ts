import { createContext, useContext } from 'react'
import type { Client } from '../client/client.ts'
import type { ConversationView } from './use-conversation.ts'
import type { TasksHandle } from './use-tasks.ts'

interface Plan {
  readonly client: Client
  readonly view: ConversationView
  readonly plan: TasksHandle
}

/** The plan for what is open in a row: rows themselves are memoized. */
export const PlanContext = createContext<Plan | undefined>(undefined)

export function usePlan(): Plan {
  const plan = useContext(PlanContext)
  if (!plan) throw new Error('A row of the plan is rendered outside of its panel.')
  return plan
}
