import type { Refusal, RefusalCode } from '../domain/refusal.ts'
import { say } from '../domain/say.ts'
import type { Tool, Toolset } from './toolset.ts'

/** A refusal in the words of this toolset, with the right form where the form was at fault. */
export function explain(refusal: Refusal, { vocabulary }: Toolset, tool?: Pick<Tool, 'at' | 'example'>): string {
  const at = tool?.at ?? ((_: number, field: string) => field)
  const said = say(refusal, { ...vocabulary, at })
  return tool && FORM_AT_FAULT.has(refusal.code) ? `${said} Send ${tool.example}` : said
}

const FORM_AT_FAULT: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'invalid_field',
  'batch_empty',
  'batch_too_large',
  'outcome_required',
  'two_in_progress',
])
