import type { Refusal, RefusalCode } from '../../core/model/refusal.ts'
import { say } from '../../core/views/say.ts'
import type { Tool, Toolset } from './toolset.ts'

/** A refusal in the toolset's words, with an example if the form was wrong. */
export function explain(
  refusal: Refusal,
  { vocabulary }: Toolset,
  tool?: Pick<Tool, 'at' | 'example' | 'disputing'>,
): string {
  const at = tool?.at ?? ((_: number, field: string) => field)
  const sentence = say(refusal, { ...vocabulary, at })
  if (!tool || !FORM_ERRORS.has(refusal.code)) return sentence
  const isDispute = refusal.is('outcome_required') && refusal.data.to === 'disputed'
  return `${sentence} Send ${isDispute ? tool.disputing : tool.example}`
}

const FORM_ERRORS: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'invalid_field',
  'batch_empty',
  'batch_too_large',
  'outcome_required',
  'two_in_progress',
])
