import type { ReactElement, ReactNode } from 'react'
import type { Client } from '../../../client/client.ts'
import { PlanChecks } from './plan-checks.tsx'
import { PlanContext } from './plan-context.ts'
import { TaskList } from './task-list.tsx'
import type { ConversationView } from '../thread/use-conversation.ts'
import type { TasksHandle } from './use-tasks.ts'

interface PlanListProps {
  readonly client: Client
  readonly view: ConversationView
  readonly plan: TasksHandle
  readonly addedId: string | undefined
  readonly renderOutcome: ((outcome: string) => ReactNode) | undefined
}

export default function PlanList({ client, view, plan, addedId, renderOutcome }: PlanListProps): ReactElement {
  return (
    <PlanContext value={{ client, view, plan }}>
      <TaskList plan={plan} addedId={addedId} renderOutcome={renderOutcome} />
      <PlanChecks />
    </PlanContext>
  )
}
