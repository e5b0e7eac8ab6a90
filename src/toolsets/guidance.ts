import type { Toolset } from './toolset.ts'

/** The section for the system prompt, where the tools that it speaks of are allowed: those that plan. Otherwise nothing. */
export function promptFor(
  toolset: Toolset,
  allowed: readonly string[] = toolset.tools.map(({ name }) => name),
): string {
  return toolset.tools.some(({ name, created }) => created && allowed.includes(name)) ? toolset.prompt : ''
}
