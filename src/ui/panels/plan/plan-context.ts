import { createContext, useContext } from 'react'
import type { Client } from '../../../client/client.ts'
import type { ConversationView } from '../hooks/use-conversation.ts'
import type { TasksHandle } from './use-tasks.ts'

interface Plan {
  readonly client: Client
  readonly view: ConversationView
  readonly plan: TasksHandle
}

/** Gives the plan to the open part of a row. Props would defeat the memoization of rows. */
export const PlanContext = createContext<Plan | undefined>(undefined)

export function usePlan(): Plan {
  const plan = useContext(PlanContext)
  if (!plan) throw new Error('A row of the plan is rendered outside of its panel.')
  return plan
}
