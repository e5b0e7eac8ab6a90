import { type Agent, type ToolApprovalConfiguration, type ToolSet, ToolLoopAgent, type ToolLoopAgentSettings } from 'ai'
import { planLoop, type PlanLoop, type PlanLoopOptions } from './ai-loop.ts'
import { toolsOf } from './ai-tools.ts'
import type { Turn } from './turn.ts'

/** The settings of a `ToolLoopAgent` except those that the plan sets, with the options of `planLoop`. */
export type PlanAgentSettings = Omit<
  ToolLoopAgentSettings<never, ToolSet>,
  'instructions' | 'prepareCall' | 'prepareStep' | 'stopWhen' | 'toolCallConcurrency'
> &
  PlanLoopOptions

/** A `ToolLoopAgent` that works on a turn's plan. Each call gets its own `planLoop`. */
export function planAgent(turn: Turn, settings: PlanAgentSettings): Agent<never, ToolSet> {
  const { instructions, review, approve, force, evidence, ...own } = settings
  const ready = async () => {
    const { experimental_steering, ...loop } = await planLoop(turn, { instructions, review, approve, force, evidence })
    const agent = new ToolLoopAgent<never, ToolSet>({
      ...own,
      ...loop,
      tools: { ...own.tools, ...loop.tools },
      toolApproval: bothOf(loop.toolApproval, own.toolApproval),
      onToolExecutionEnd: async end => {
        await loop.onToolExecutionEnd(end)
        await own.onToolExecutionEnd?.(end)
      },
    })
    return { agent, experimental_steering }
  }
  return {
    version: 'agent-v1',
    id: own.id,
    tools: { ...own.tools, ...toolsOf(turn) },
    generate: async call => {
      const { agent, experimental_steering } = await ready()
      return agent.generate({ ...call, experimental_steering })
    },
    stream: async call => {
      const { agent, experimental_steering } = await ready()
      return agent.stream({ ...call, experimental_steering })
    },
  }
}

type Approvals = ToolApprovalConfiguration<ToolSet, Record<string, unknown>>

/** Planning tools use the plan's approvals; all other tools use those that the program passed. */
function bothOf(plan: PlanLoop['toolApproval'], given: Approvals | undefined): Approvals {
  if (typeof given !== 'function') return { ...given, ...plan }
  return options => {
    const { toolName, toolCallId, input } = options.toolCall
    const { messages } = options
    return plan[toolName] ? plan[toolName](input, { toolCallId, messages }) : given(options)
  }
}
