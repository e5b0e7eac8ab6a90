import type { Toolset } from './toolset.ts'

/** The toolset's section for the system prompt; empty if its planning tool is not allowed. */
export function promptFor(
  toolset: Toolset,
  allowed: readonly string[] = toolset.tools.map(({ name }) => name),
): string {
  return toolset.tools.some(({ name, created }) => created && allowed.includes(name)) ? toolset.prompt : ''
}
