import { type HookHost, HOSTS } from '../hosts/hosts.ts'
import type { HookAnswer } from './event.ts'

export function answerFor(host: HookHost, event: string, answer: HookAnswer): Readonly<Record<string, unknown>> {
  if (answer.kind === 'silence') return {}
  if (HOSTS[host].hooks === 'plugin')
    return answer.kind === 'block' ? { reason: answer.reason } : { context: answer.text }
  if (answer.kind === 'block') return { decision: 'block', reason: answer.reason }
  return { hookSpecificOutput: { hookEventName: event, additionalContext: answer.text } }
}
