import type { Toolset } from './toolset.ts'

interface PromptOptions {
  /** The tools that the model gets. Default: all of the toolset. */
  readonly allowed?: readonly string[]
  /** Whether an assessor settles the tasks, as in Runsheet's own turns. */
  readonly judged?: boolean
}

/** The toolset's section for the system prompt; empty if its planning tool is not allowed. */
export function promptFor(toolset: Toolset, { allowed, judged = false }: PromptOptions = {}): string {
  const canPlan = toolset.tools.some(({ name, created }) => created && (allowed?.includes(name) ?? true))
  if (!canPlan) return ''
  return judged ? toolset.prompt : (toolset.unjudgedPrompt ?? toolset.prompt)
}
